// SPDX-License-Identifier: BSD-3-Clause
#include "base/text.h"

#include <algorithm>

namespace omx {

namespace {

// Returns the length in bytes of the UTF-8 sequence at the front of `text`, or 0 if there is none.
std::size_t sequence(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text[0]);
  const std::size_t length = lead < 0x80                   ? 1
                             : lead >= 0xC2 && lead < 0xE0 ? 2
                             : lead >= 0xE0 && lead < 0xF0 ? 3
                             : lead >= 0xF0 && lead < 0xF5 ? 4
                                                           : 0;
  if (length > text.size()) return 0;
  for (std::size_t i = 1; i < length; i++)
    if ((static_cast<unsigned char>(text[i]) & 0xC0) != 0x80) return 0;
  return length;
}

// Returns whether a sequence is a control character. Those of two bytes end at U+009F.
bool control(std::string_view c) {
  const auto first = static_cast<unsigned char>(c[0]);
  if (c.size() == 1) return first < ' ' || first == 0x7F;
  return first == 0xC2 && static_cast<unsigned char>(c[1]) < 0xA0;
}

// Returns how many bytes must be left out, added, changed or swapped to turn `a` into `b`.
std::size_t differences(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1), row(b.size() + 1), next(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); j++) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); i++) {
    next[0] = i;
    for (std::size_t j = 1; j <= b.size(); j++) {
      next[j] = std::min({row[j] + 1, next[j - 1] + 1, row[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        next[j] = std::min(next[j], before[j - 2] + 1);
    }
    before.swap(row);
    row.swap(next);
  }
  return row[b.size()];
}

std::vector<std::string_view> split(std::string_view text, std::string_view between) {
  std::vector<std::string_view> words;
  for (std::size_t at = 0; (at = text.find_first_not_of(between, at)) != std::string_view::npos;) {
    const std::size_t end = std::min(text.find_first_of(between, at), text.size());
    words.push_back(text.substr(at, end - at));
    at = end;
  }
  return words;
}

}  // namespace

std::string shown(std::string_view text, std::size_t most) {
  std::string out;
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t length = sequence(text.substr(i));
    if (i + std::max<std::size_t>(length, 1) > most) return out + "...";
    if (length == 0 || control(text.substr(i, length)))
      out += '?';
    else
      out += text.substr(i, length);
    i += std::max<std::size_t>(length, 1);
  }
  return out;
}

std::string_view nearest_word(std::string_view word, std::span<const std::string_view> candidates) {
  constexpr std::size_t kMost = 3;
  std::size_t allowed = std::clamp<std::size_t>(word.size() / 3, 1, kMost);
  std::string_view best;
  for (const std::string_view candidate : candidates) {
    const std::size_t longer = std::max(word.size(), candidate.size());
    if (longer - std::min(word.size(), candidate.size()) > allowed) continue;
    const std::size_t found = differences(word, candidate);
    if (found > allowed || (!best.empty() && found == allowed)) continue;
    best = candidate;
    allowed = found;
  }
  return best;
}

std::vector<std::string_view> words_of(std::string_view line) {
  return split(line, " \t\r");
}

std::vector<std::string_view> list_words(std::string_view list) {
  return split(list, ", \t\r");
}

}  // namespace omx
