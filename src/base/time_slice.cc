// SPDX-License-Identifier: BSD-3-Clause
#include "base/time_slice.h"

#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace omx {

namespace {

// The kernel's struct sched_attr in its first version. Only some C libraries declare it.
struct Attributes {
  std::uint32_t size = sizeof(Attributes);
  std::uint32_t policy = 0;
  std::uint64_t flags = 0;
  std::int32_t nice = 0;
  std::uint32_t priority = 0;
  std::uint64_t runtime = 0, deadline = 0, period = 0;  // ns; runtime: the slice
};
static_assert(sizeof(Attributes) == 48);

bool attributes_read(Attributes& attributes) {
  return ::syscall(SYS_sched_getattr, 0, &attributes, sizeof attributes, 0) == 0 &&
         attributes.policy == SCHED_OTHER;
}

}  // namespace

std::uint64_t time_slice() {
  Attributes attributes;
  return attributes_read(attributes) ? attributes.runtime : 0;
}

bool time_slice_shorten(std::uint64_t ns) {
  Attributes attributes;
  if (!attributes_read(attributes) || attributes.nice != 0 || attributes.runtime <= ns) return false;
  attributes.runtime = ns;
  return ::syscall(SYS_sched_setattr, 0, &attributes, 0) == 0;
}

}  // namespace omx
