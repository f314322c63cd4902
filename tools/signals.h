// SPDX-License-Identifier: BSD-3-Clause
// Commands that run until they are ended by hand finish what they have.
#pragma once

#include <sys/signalfd.h>

#include <csignal>

#include "base/own_fd.h"

namespace omx::tools {

// Readable when somebody ends this program. For the process, and for good.
inline OwnFd signals_take() {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&set, signal);
  ::sigprocmask(SIG_BLOCK, &set, nullptr);
  std::signal(SIGPIPE, SIG_IGN);  // who reads may go
  return OwnFd(::signalfd(-1, &set, SFD_CLOEXEC));
}

}  // namespace omx::tools
