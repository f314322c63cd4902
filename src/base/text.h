// SPDX-License-Identifier: BSD-3-Clause
// Text from outside in messages for people.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace omx {

// `text` as an error shows it: its control characters as '?', so that it cannot work on the terminal or add
// lines, and no more than `most` bytes of it, so that the remedy behind it is read (mx-api.md 5).
std::string shown(std::string_view text, std::size_t most = 60);

// What stands between blanks of a line; views of `line`.
std::vector<std::string_view> words_of(std::string_view line);
// The same of a list, with commas or blanks between its words.
std::vector<std::string_view> list_words(std::string_view list);

// The candidate that `word` was probably meant to be: one that differs by a few letters, left out, added,
// changed or swapped. The fewer differences the better, of equals the first. Empty: none is so near.
std::string_view nearest_word(std::string_view word, std::span<const std::string_view> candidates);

// Names of files are longer than other words.
inline constexpr std::size_t kPathShown = 200;

}  // namespace omx
