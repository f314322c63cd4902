// SPDX-License-Identifier: BSD-3-Clause
#include "tools/cluster/host_list.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <limits>

#include "base/text.h"
#include "base/text_file.h"

namespace omx::tools {

namespace {

constexpr int kMxFailure = 2;
constexpr std::size_t kNameMost = 253;  // of the domain name system

tl::unexpected<Failure> refused(std::string_view word, std::string_view why) {
  return fail(kMxFailure,
              fmt::format("--hosts: \"{}\" {}; give h1,h2 or h[1-16] or a file", shown(word), why));
}

tl::unexpected<Failure> too_many() {
  return fail(kMxFailure, fmt::format("--hosts: more than {} hosts; give fewer", kHostsMost));
}

bool is_name(std::string_view word) {
  return !word.empty() && word.size() <= kNameMost && word[0] != '-' &&
         std::all_of(word.begin(), word.end(), [](unsigned char c) {
           return std::isalnum(c) ||
                  std::string_view("-_.:@%").find(static_cast<char>(c)) != std::string_view::npos;
         });
}

bool number_read(std::string_view text, unsigned& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return !text.empty() && error == std::errc() && end == text.data() + text.size();
}

// Adds what one word means: "h7", or "h[01-16,20]x".
Result<void> word_add(std::string_view word, std::vector<std::string>& hosts) {
  const std::size_t open = word.find('['), close = word.find(']');
  if (open == std::string_view::npos) {
    if (!is_name(word)) return refused(word, "is not the name of a host");
    if (hosts.size() == kHostsMost) return too_many();
    hosts.emplace_back(word);
    return {};
  }
  if (close == std::string_view::npos || close < open) return refused(word, "has an open bracket");
  for (const std::string_view range : list_words(word.substr(open + 1, close - open - 1))) {
    const std::string_view first = range.substr(0, range.find('-'));
    const std::string_view last = first.size() == range.size() ? first : range.substr(first.size() + 1);
    unsigned from = 0, to = 0;
    if (!number_read(first, from) || !number_read(last, to) || from > to || to - from >= kHostsMost ||
        to == std::numeric_limits<unsigned>::max())
      return refused(word, "has a range that cannot be counted");
    for (unsigned n = from; n <= to; n++) {
      auto name = fmt::format("{}{:0{}}{}", word.substr(0, open), n, first.size(), word.substr(close + 1));
      if (!is_name(name)) return refused(name, "is not the name of a host");
      if (hosts.size() == kHostsMost) return too_many();
      hosts.push_back(std::move(name));
    }
  }
  return {};
}

// Splits at commas outside brackets.
std::vector<std::string_view> list_split(std::string_view text) {
  std::vector<std::string_view> words;
  bool inside = false;
  std::size_t begin = 0;
  for (std::size_t i = 0; i <= text.size(); i++) {
    if (i < text.size()) inside = text[i] == '[' || (inside && text[i] != ']');
    if (i == text.size() || (text[i] == ',' && !inside)) {
      if (i > begin) words.push_back(text.substr(begin, i - begin));
      begin = i + 1;
    }
  }
  return words;
}

bool is_file(const std::string& text) {
  struct stat file {};
  return text.find('/') != std::string::npos || (::stat(text.c_str(), &file) == 0 && !S_ISDIR(file.st_mode));
}

Result<void> file_add(const std::string& path, std::vector<std::string>& hosts) {
  const auto text = text_file_read(path);
  if (!text)
    return fail(kMxFailure, fmt::format("--hosts: {}: {}; give a file with a host in each line",
                                        shown(path, kPathShown), text_file_error(text.error())));
  for (std::size_t at = 0; at < text->size();) {
    const std::size_t end = std::min(text->find('\n', at), text->size());
    std::string_view line = std::string_view(*text).substr(at, end - at);
    at = end + 1;
    line = line.substr(0, line.find('#'));
    const auto words = words_of(line);
    if (words.empty()) continue;
    // Hosts of MPI's files may have a number of slots: "h1 slots=4", "h1:4".
    const std::string_view name = words[0];
    const std::size_t colon = name.find(':');
    unsigned slots = 0;
    const bool counted = colon != std::string_view::npos && colon == name.rfind(':') &&
                         number_read(name.substr(colon + 1), slots);
    if (auto added = word_add(counted ? name.substr(0, colon) : name, hosts); !added) return added;
  }
  return {};
}

void replace_all(std::string& text, std::string_view from, const std::string& to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
    text.replace(at, from.size(), to);
}

}  // namespace

Result<std::vector<std::string>> host_list(const std::string& text) {
  std::vector<std::string> hosts;
  if (is_file(text)) {
    if (auto added = file_add(text, hosts); !added) return tl::unexpected(added.error());
  } else {
    for (const std::string_view word : list_split(text))
      if (auto added = word_add(word, hosts); !added) return tl::unexpected(added.error());
  }
  auto sorted = hosts;
  std::sort(sorted.begin(), sorted.end());
  if (const auto twice = std::adjacent_find(sorted.begin(), sorted.end()); twice != sorted.end())
    return refused(*twice, "is given twice");
  if (hosts.size() < 2) return refused(text, "names fewer than two hosts");
  return hosts;
}

std::vector<std::string> launch_words(const std::string& launch, const std::string& host,
                                      const std::string& program) {
  std::vector<std::string> words;
  bool has_program = false;
  for (const std::string_view word : words_of(launch)) {
    std::string& added = words.emplace_back(word);
    has_program |= added.find("{omx}") != std::string::npos;
    replace_all(added, "{host}", host);
    replace_all(added, "{omx}", program);
  }
  if (!has_program) words.push_back(program);
  words.insert(words.end(), {"check", "--agent"});
  return words;
}

}  // namespace omx::tools
