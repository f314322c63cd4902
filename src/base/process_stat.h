// SPDX-License-Identifier: BSD-3-Clause
// What the kernel says of a process.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>

namespace omx {

struct ProcessStat {
  char state = 0;
  // In the kernel's ticks since boot. A number of a process is used again, but not with the same start.
  std::uint64_t started = 0;

  // Returns whether only the exit status is left.
  bool ended() const { return state == 'Z' || state == 'X'; }
};

// Returns nothing if there is no such process.
std::optional<ProcessStat> process_stat(pid_t pid);

}  // namespace omx
