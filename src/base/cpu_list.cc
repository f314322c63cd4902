// SPDX-License-Identifier: BSD-3-Clause
#include "base/cpu_list.h"

#include <sched.h>
#include <sys/sysinfo.h>

#include <algorithm>
#include <charconv>

namespace omx {

namespace {

// Takes a number from the front of `text`; -1 when there is none that fits.
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

int cpus_of_this_host() {
  return std::max(::get_nprocs_conf(), 1);
}

}  // namespace omx
