// SPDX-License-Identifier: BSD-3-Clause
#include "base/affinity.h"

#include <pthread.h>
#include <sched.h>

#include <cerrno>
#include <cstring>

#include "base/cpu_list.h"
#include "base/no_signals.h"
#include "base/text_file.h"

namespace omx {

namespace {

std::vector<int> list_of(const cpu_set_t& set) {
  std::vector<int> cpus;
  for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
    if (CPU_ISSET(static_cast<std::size_t>(cpu), &set)) cpus.push_back(cpu);
  return cpus;
}

// Asks for every processor that a cpu_set_t can name and returns those that the kernel grants.
void* possible_find(void* result) {
  cpu_set_t set;
  std::memset(&set, 0xff, sizeof set);
  if (::sched_setaffinity(0, sizeof set, &set) == 0)
    *static_cast<std::vector<int>*>(result) = affinity_read();
  return nullptr;
}

}  // namespace

std::vector<int> affinity_read(pid_t thread) {
  cpu_set_t set;
  // sched_getaffinity() fails where the kernel was built for more processors than a cpu_set_t holds.
  return ::sched_getaffinity(thread, sizeof set, &set) < 0 ? std::vector<int>{} : list_of(set);
}

int affinity_set(const std::vector<int>& cpus) {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const int cpu : cpus) CPU_SET(static_cast<std::size_t>(cpu), &set);
  return ::sched_setaffinity(0, sizeof set, &set) < 0 ? errno : 0;
}

std::vector<int> affinity_possible() {
  std::vector<int> cpus;
  const NoSignals no_signals;
  pthread_t thread;
  if (::pthread_create(&thread, nullptr, possible_find, &cpus) == 0) ::pthread_join(thread, nullptr);
  return cpus;
}

std::vector<int> processors_online(const std::string& root) {
  return cpu_list_parse(line_read(root + "/sys/devices/system/cpu/online").value_or(""));
}

int processor_numbers(const std::string& root) {
  const auto possible = cpu_list_parse(line_read(root + "/sys/devices/system/cpu/possible").value_or(""));
  return possible.empty() ? 1 : possible.back() + 1;
}

}  // namespace omx
