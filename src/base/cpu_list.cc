// SPDX-License-Identifier: BSD-3-Clause
#include "base/cpu_list.h"

#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <charconv>
#include <cstdint>

namespace omx {

namespace {

// Takes a number from the front of `text`. Returns -1 if `text` begins with no number or one that is too
// large.
int number_take(std::string_view& text) {
  int value = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || value < 0 || value >= CPU_SETSIZE) return -1;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return value;
}

}  // namespace

std::vector<int> cpu_list_parse(std::string_view text) {
  std::vector<int> cpus;
  for (;;) {
    const int first = number_take(text);
    int last = first;
    if (!text.empty() && text.front() == '-') {
      text.remove_prefix(1);
      last = number_take(text);
    }
    if (first < 0 || last < first) return {};
    for (int cpu = first; cpu <= last; cpu++) cpus.push_back(cpu);
    if (text.empty()) return cpus;
    if (text.front() != ',') return {};
    text.remove_prefix(1);
  }
}

std::string cpu_list_text(const std::vector<int>& cpus) {
  std::string text;
  for (std::size_t i = 0; i < cpus.size();) {
    std::size_t last = i;
    while (last + 1 < cpus.size() && cpus[last + 1] == cpus[last] + 1) last++;
    if (!text.empty()) text += ',';
    text += std::to_string(cpus[i]);
    if (last > i) text += fmt::format("{}{}", last == i + 1 ? ',' : '-', cpus[last]);
    i = last + 1;
  }
  return text;
}

std::vector<int> cpu_mask_parse(std::string_view text) {
  std::vector<int> cpus;
  int cpu = 0;
  unsigned digits = 0;  // since the last comma
  for (; !text.empty(); text.remove_suffix(1)) {
    const char c = text.back();
    if (c == ',') {
      if (digits != 8) return {};
      digits = 0;
      continue;
    }
    unsigned value = 0;
    const auto [end, error] = std::from_chars(&c, &c + 1, value, 16);
    if (error != std::errc()) return {};
    digits++;
    for (int bit = 0; bit < 4; bit++, cpu++) {
      if (!(value >> bit & 1)) continue;
      if (cpu >= CPU_SETSIZE) return {};
      cpus.push_back(cpu);
    }
  }
  if (digits == 0) return {};
  return cpus;
}

std::string cpu_mask_text(const std::vector<int>& cpus) {
  const int groups = cpus.empty() ? 1 : *std::max_element(cpus.begin(), cpus.end()) / 32 + 1;
  std::vector<std::uint32_t> words(static_cast<std::size_t>(groups));
  for (const int cpu : cpus) words[static_cast<std::size_t>(cpu) / 32] |= 1U << (cpu % 32);
  std::string text;
  for (std::size_t i = words.size(); i-- > 0;) {
    text += text.empty() ? fmt::format("{:x}", words[i]) : fmt::format(",{:08x}", words[i]);
  }
  return text;
}

}  // namespace omx
