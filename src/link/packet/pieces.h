// SPDX-License-Identifier: BSD-3-Clause
// Helpers for a frame in pieces.
#pragma once

#include <sys/uio.h>

#include <cstddef>
#include <cstring>

namespace omx::link {

inline std::size_t pieces_bytes(const iovec* pieces, std::size_t count) {
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < count; i++) bytes += pieces[i].iov_len;
  return bytes;
}

inline void pieces_gather(const iovec* pieces, std::size_t count, std::byte* out) {
  for (std::size_t i = 0; i < count; i++) {
    if (pieces[i].iov_len > 0) std::memcpy(out, pieces[i].iov_base, pieces[i].iov_len);
    out += pieces[i].iov_len;
  }
}

}  // namespace omx::link
