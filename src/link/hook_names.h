// SPDX-License-Identifier: BSD-3-Clause
// Abstract Unix names as locks and claims: one socket holds each, in one network namespace, and the kernel
// frees it at any exit.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

#include "base/own_fd.h"

namespace omx::link {

// Holds the name; not open, with errno (EADDRINUSE: somebody has it), when it cannot.
OwnFd name_hold(const std::string& name);
// Whether somebody does; true where that cannot be told.
bool name_held(const std::string& name);

// A socket that others connect to by name, and such a connection. Not open, with errno, when it cannot be.
OwnFd name_listen(const std::string& name);
OwnFd name_connect(const std::string& name);

// A lock with a name. Who holds it may be stopped, so nobody waits for ever: only while `turns`, which counts
// the locks that were taken, goes on. Half a second without is enough.
class NameLock {
 public:
  NameLock(const std::string& name, std::atomic<std::uint32_t>& turns);
  bool held() const { return fd_.open(); }
  void release() { fd_.reset(); }

 private:
  OwnFd fd_;
};

void nap(unsigned ms);

}  // namespace omx::link
