// SPDX-License-Identifier: BSD-3-Clause
// What the catalogue of messages knows about one kind of message. Several texts may have one meaning.
#pragma once

#include <span>
#include <string_view>

namespace omx::messages {

struct Entry {
  int number;              // never changes and is never used again, because users look it up and report it
  std::string_view title;  // few words
  std::string_view meaning;
  std::string_view causes;
  std::string_view remedy;
  std::string_view texts;  // as the sources have them, {} for what differs; each ends in a newline
};

struct Section {
  std::string_view title;
  std::span<const Entry> entries;  // by number
};

}  // namespace omx::messages
