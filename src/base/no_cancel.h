// SPDX-License-Identifier: BSD-3-Clause
// A thread that is cancelled in the middle of a call would take locks with it, or end the process out of a
// destructor. Around calls of the C library that are cancellation points; system calls by number are none.
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
