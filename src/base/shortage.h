// SPDX-License-Identifier: BSD-3-Clause
// Errors that say that the system has no more of something, not that the call was wrong.
#pragma once

#include <cerrno>

namespace omx {

inline bool is_shortage(int error) {
  return error == EMFILE || error == ENFILE || error == ENOMEM || error == ENOBUFS ||
         error == ENOSPC;  // of epoll, and of files in memory
}

}  // namespace omx
