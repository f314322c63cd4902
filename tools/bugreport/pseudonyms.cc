// SPDX-License-Identifier: BSD-3-Clause
#include "tools/bugreport/pseudonyms.h"

#include <arpa/inet.h>
#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "base/mac.h"

namespace omx::tools {

namespace {

constexpr std::size_t kMacText = 17;    // 02:00:00:00:00:01
constexpr std::size_t kMacPrefix = 3;   // enx
constexpr std::size_t kMacDigits = 12;  // 020000000001
constexpr std::size_t kMacName = kMacPrefix + kMacDigits;
constexpr std::size_t kMatchInfoText = 18;  // 0x and 16 digits
constexpr std::size_t kIpMost = INET6_ADDRSTRLEN - 1;
constexpr std::size_t kWordMost = 256;  // longer names of hosts and users do not exist

bool hexadecimal(char c) {
  return std::isxdigit(static_cast<unsigned char>(c)) != 0;
}

bool alphanumeric(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0;
}

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return result;
}

// Returns whether a name of this size at the beginning of the text ends there.
bool ends_at(std::string_view text, std::size_t size) {
  return text.size() == size || !alphanumeric(text[size]);
}

bool has_digit(std::string_view text) {
  return std::any_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

// Addresses that every host has say nothing about a site.
bool ip_everywhere(std::string_view text) {
  return text.starts_with("127.") || text.starts_with("255.") || text == "0.0.0.0" || text == "::" ||
         text == "::1";
}

bool ip_valid(const std::string& text) {
  in6_addr address{};
  return ::inet_pton(AF_INET, text.c_str(), &address) == 1 ||
         ::inet_pton(AF_INET6, text.c_str(), &address) == 1;
}

}  // namespace

std::string Pseudonyms::pseudonym(std::string_view kind, std::string_view name) const {
  return fmt::format("{}-{:05x}", kind, keyed_hash(key_, lower(name)) & 0xfffff);
}

void Pseudonyms::add_word(std::string_view word, std::string instead) {
  const auto digit = [](char c) { return c >= '0' && c <= '9'; };
  if (word.size() >= 2 && !std::all_of(word.begin(), word.end(), digit))
    words_.try_emplace(lower(word), std::move(instead));
}

void Pseudonyms::add_host(std::string_view name) {
  if (mac_parse(name)) return;
  name = name.substr(0, name.find(':'));  // the number of a board follows
  if (ip_valid(std::string(name))) return;
  const std::size_t dot = name.find('.');
  const std::string_view first = name.substr(0, dot);
  if (first == "localhost") return;
  const std::string host = pseudonym("host", first);
  add_word(first, host);
  if (dot == std::string_view::npos || dot + 1 == name.size()) return;
  const std::string_view domain = name.substr(dot + 1);
  const std::string instead = pseudonym("domain", domain);
  add_word(name, host + '.' + instead);
  // "local" alone is a word of many sentences.
  if (domain.find('.') != std::string_view::npos) add_word(domain, instead);
}

void Pseudonyms::add_user(std::string_view name) {
  if (name != "root") add_word(name, pseudonym("user", name));
}

void Pseudonyms::add_folder(std::string_view path, std::string_view instead) {
  if (path.size() > 1) add_word(path, std::string(instead));
}

Pseudonyms::Piece Pseudonyms::word_at(std::string_view text, char before) const {
  const std::string here = lower(text.substr(0, kWordMost));
  for (auto known = words_.upper_bound(here); known != words_.begin();) {
    const auto& [word, instead] = *--known;
    if (word.front() != here.front()) break;
    if (here.starts_with(word) && ends_at(text, word.size()) &&
        (has_digit(word) || (before != '_' && !here.substr(word.size()).starts_with('_'))))
      return {word.size(), instead};
  }
  return {};
}

Pseudonyms::Piece Pseudonyms::mac_at(std::string_view text) const {
  // Names of interfaces that hold their address: enx020000000001.
  const std::string_view digits = text.substr(0, kMacName).substr(std::min(text.size(), kMacPrefix));
  if (digits.size() == kMacDigits && ends_at(text, kMacName) &&
      (text.starts_with("enx") || text.starts_with("wlx")) &&
      std::all_of(digits.begin(), digits.end(), hexadecimal))
    return {kMacName, pseudonym(text.substr(0, kMacPrefix), digits)};
  if (text.size() < kMacText || !ends_at(text, kMacText)) return {};
  const auto nic = mac_parse(text.substr(0, kMacText));
  if (!nic || *nic == 0 || *nic == kBroadcastNic) return {};
  return {kMacText, pseudonym("mac", mac_format(*nic))};
}

Pseudonyms::Piece Pseudonyms::ip_at(std::string_view text) const {
  std::size_t size = 0;
  while (size < std::min(text.size(), kIpMost) &&
         (hexadecimal(text[size]) || text[size] == ':' || text[size] == '.'))
    size++;
  // The end of a sentence, a port or a colon may follow.
  for (; size > 1; size--) {
    const std::string address(text.substr(0, size));
    if (!ends_at(text, size) || !ip_valid(address)) continue;
    return {size, ip_everywhere(address) ? address : pseudonym("ip", address)};
  }
  return {};
}

std::string Pseudonyms::mask(std::string_view text) const {
  std::string result;
  for (std::size_t at = 0; at < text.size();) {
    Piece piece;
    if (at == 0 || !alphanumeric(text[at - 1])) {
      const std::string_view here = text.substr(at);
      piece = word_at(here, at == 0 ? ' ' : text[at - 1]);
      if (!piece.size) piece = mac_at(here);
      if (!piece.size) piece = ip_at(here);
    }
    if (piece.size) {
      result += piece.instead;
      at += piece.size;
    } else {
      result += text[at++];
    }
  }
  return result;
}

std::string without_match_info(std::string_view text) {
  std::string result;
  for (std::size_t at = 0; at < text.size();) {
    const std::string_view here = text.substr(at, kMatchInfoText);
    if (here.size() == kMatchInfoText && here.starts_with("0x") &&
        std::all_of(here.begin() + 2, here.end(), hexadecimal)) {
      result += "0x(left out)";
      at += kMatchInfoText;
    } else {
      result += text[at++];
    }
  }
  return result;
}

}  // namespace omx::tools
