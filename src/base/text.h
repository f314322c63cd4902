// SPDX-License-Identifier: BSD-3-Clause
// Splits text from outside into words, and prepares it for messages.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace omx {

// Returns `text` as an error message shows it. Control characters become '?', so that they cannot work on the
// terminal or add lines. It is cut at `most` bytes, so that the remedy behind it is read (docs/spec/mx-api.md
// 5).
std::string shown(std::string_view text, std::size_t most = 60);

// Returns the words between the blanks of a line. They point into `line`.
std::vector<std::string_view> words_of(std::string_view line);
// Returns the words of a list, which are separated by commas or blanks.
std::vector<std::string_view> list_words(std::string_view list);

// Returns the candidate that `word` was probably meant to be: the one with the fewest letters left out,
// added, changed or swapped, and the first of equals. Returns an empty view if none is near enough.
std::string_view nearest_word(std::string_view word, std::span<const std::string_view> candidates);

// Names of files may be shown at greater length than other words.
inline constexpr std::size_t kPathShown = 200;

}  // namespace omx
