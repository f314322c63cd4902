// SPDX-License-Identifier: BSD-3-Clause
// Lets commands that run until a signal ends them finish their output.
#pragma once

#include <sys/signalfd.h>

#include <csignal>

#include "base/own_fd.h"

namespace omx::tools {

// Blocks the signals that end a program and returns a descriptor that becomes readable when one arrives. The
// signals stay blocked in this process.
inline OwnFd signals_take() {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&set, signal);
  ::sigprocmask(SIG_BLOCK, &set, nullptr);
  std::signal(SIGPIPE, SIG_IGN);  // the reader of our output may end first
  return OwnFd(::signalfd(-1, &set, SFD_CLOEXEC));
}

}  // namespace omx::tools
