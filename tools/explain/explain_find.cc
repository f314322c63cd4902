// SPDX-License-Identifier: BSD-3-Clause
#include "tools/explain/explain_find.h"

#include <algorithm>
#include <cctype>
#include <optional>
#include <string>

#include "base/text.h"

namespace omx::tools {

namespace {

using messages::Entry;

bool digit(char c) {
  return c >= '0' && c <= '9';
}

// Returns the number that `word` is, with or without the letter before it and a colon behind it. Larger ones
// are no numbers of messages.
std::optional<int> number_of(std::string_view word, bool needs_letter) {
  if (word.ends_with(':')) word.remove_suffix(1);
  const bool letter = !word.empty() && (word.front() == 'E' || word.front() == 'e');
  if (letter) word.remove_prefix(1);
  if ((needs_letter && !letter) || word.empty() || word.size() > 6 ||
      !std::all_of(word.begin(), word.end(), digit))
    return std::nullopt;
  return std::stoi(std::string(word));
}

// Returns the number that a printed line has before its sentence: "OMX: warning: E401: eth0: ...". An
// interface may be called e1.
std::optional<int> number_in(std::string_view line) {
  for (std::string_view word : words_of(line)) {
    const auto number = word.ends_with(':') ? number_of(word, true) : std::nullopt;
    if (number && messages::entry_find(*number)) return number;
  }
  return std::nullopt;
}

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return result;
}

std::string said(const Entry& entry) {
  return lower(std::string(entry.title) + '\n' + std::string(entry.texts));
}

std::string explained(const Entry& entry) {
  return said(entry) + lower(std::string(entry.meaning) + '\n' + std::string(entry.causes) + '\n' +
                             std::string(entry.remedy));
}

template <class Has>
std::vector<const Entry*> entries_where(Has&& has) {
  std::vector<const Entry*> found = messages_all();
  std::erase_if(found, [&](const Entry* entry) { return !has(*entry); });
  return found;
}

std::vector<const Entry*> entries_by_words(std::string_view query) {
  const std::string asked = lower(query);
  const auto words = words_of(asked);
  const auto all_in = [&](const std::string& text) {
    return std::all_of(words.begin(), words.end(),
                       [&](std::string_view word) { return text.find(word) != std::string::npos; });
  };
  auto found = entries_where([&](const Entry& e) { return said(e).find(asked) != std::string::npos; });
  if (found.empty()) found = entries_where([&](const Entry& e) { return all_in(said(e)); });
  if (found.empty()) found = entries_where([&](const Entry& e) { return all_in(explained(e)); });
  return found;
}

}  // namespace

std::vector<const Entry*> messages_all() {
  std::vector<const Entry*> all;
  for (const messages::Section* section : messages::sections()) {
    for (const Entry& entry : section->entries) all.push_back(&entry);
  }
  return all;
}

Explained explain_find(std::string_view query) {
  const auto words = words_of(query);
  auto number = words.size() == 1 ? number_of(words.front(), false) : std::nullopt;
  if (!number) number = number_in(query);
  if (number) {
    const Entry* entry = messages::entry_find(*number);
    return {entry ? std::vector{entry} : std::vector<const Entry*>{}, *number};
  }
  auto found = entries_by_words(query);
  if (!found.empty()) return {found, 0};
  if (const Entry* entry = messages::entry_recognise(query)) return {{entry}, 0};
  return {};
}

}  // namespace omx::tools
