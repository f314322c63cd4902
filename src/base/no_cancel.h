// SPDX-License-Identifier: BSD-3-Clause
// Keeps the calling thread from being cancelled. A thread that is cancelled inside a call would leave locks
// held, or end the process out of a destructor. Use it around functions of the C library that are
// cancellation points. syscall() is not one.
#pragma once

#include <pthread.h>

namespace omx {

class NoCancel {
 public:
  NoCancel() { ::pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before_); }
  ~NoCancel() { ::pthread_setcancelstate(before_, nullptr); }
  NoCancel(const NoCancel&) = delete;
  NoCancel& operator=(const NoCancel&) = delete;

 private:
  int before_ = 0;
};

}  // namespace omx
