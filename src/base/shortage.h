// SPDX-License-Identifier: BSD-3-Clause
// Errors that mean that the system ran out of something, and not that the call was wrong.
#pragma once

#include <cerrno>

namespace omx {

inline bool is_shortage(int error) {
  return error == EMFILE || error == ENFILE || error == ENOMEM || error == ENOBUFS ||
         error == ENOSPC;  // from epoll, and from files in memory
}

}  // namespace omx
