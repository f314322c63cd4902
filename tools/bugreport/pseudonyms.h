// SPDX-License-Identifier: BSD-3-Clause
// Replaces names and addresses in the text of a report.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>

#include "tools/bugreport/keyed_hash.h"

namespace omx::tools {

// A name becomes "host-1a2b3" or the like, by a hash with a key. Reports with the same key have the same
// replacements. Without the key, a reader cannot try names and addresses until one fits.
class Pseudonyms {
 public:
  explicit Pseudonyms(const HashKey& key) : key_(key) {}

  // Names of one letter and numbers are left alone: too many words are spelled like them.
  void add_host(std::string_view name);  // with or without its domain or a board; "localhost" is left alone
  void add_user(std::string_view name);
  void add_folder(std::string_view path, std::string_view instead);

  // Returns the text with hosts, users and folders as added, and all MAC and IP addresses, replaced. A name
  // is replaced where no letter or digit is beside it, and no underscore if it has no digit: a host that is
  // called "vm" is no part of "process_vm_readv". Case does not matter.
  std::string mask(std::string_view text) const;

 private:
  // A piece of a text that is replaced.
  struct Piece {
    std::size_t size = 0;  // 0: nothing is replaced here
    std::string instead;
  };

  std::string pseudonym(std::string_view kind, std::string_view name) const;
  void add_word(std::string_view word, std::string instead);
  // Return what is replaced at the beginning of the text.
  Piece word_at(std::string_view text, char before) const;
  Piece mac_at(std::string_view text) const;
  Piece ip_at(std::string_view text) const;

  HashKey key_;
  // In lower case, with the replacement. In backward order a longer word is found before its beginning.
  std::map<std::string, std::string> words_;
};

// Returns the text without match information: numbers of 16 hexadecimal digits, which programs choose.
std::string without_match_info(std::string_view text);

}  // namespace omx::tools
