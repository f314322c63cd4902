// SPDX-License-Identifier: BSD-3-Clause
#include "libfabric/object_calls.h"

#include <rdma/fi_errno.h>

#include <cstring>

namespace omx::fabric {

const char* text_give(const char* text, char* out, std::size_t length) {
  if (out && length > 0) {
    std::strncpy(out, text, length - 1);
    out[length - 1] = 0;
  }
  return text;
}

int no_bind(fid*, fid*, std::uint64_t) {
  return -FI_ENOSYS;
}

int no_control(fid*, int, void*) {
  return -FI_ENOSYS;
}

int no_ops_open(fid*, const char*, std::uint64_t, void**, void*) {
  return -FI_ENOSYS;
}

}  // namespace omx::fabric
