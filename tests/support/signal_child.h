// SPDX-License-Identifier: BSD-3-Clause
// Sends signals to child processes of tests.
#pragma once

#include <sys/types.h>

#include <csignal>

namespace omx {

// Sends the signal and returns whether it was sent. A number that is not of a process is refused: kill(-1)
// would send it to every process of the machine.
inline bool signal_child(pid_t pid, int signal) {
  return pid > 1 && ::kill(pid, signal) == 0;
}

}  // namespace omx
