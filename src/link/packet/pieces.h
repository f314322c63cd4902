// SPDX-License-Identifier: BSD-3-Clause
// Helpers for a frame in pieces.
#pragma once

#include <sys/uio.h>

#include <algorithm>
#include <cstddef>
#include <cstring>

namespace omx::link {

inline std::size_t pieces_bytes(const iovec* pieces, std::size_t count) {
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < count; i++) bytes += pieces[i].iov_len;
  return bytes;
}

// Copies up to `length` bytes from `offset` on to `out`, and returns how many there were.
inline std::size_t pieces_read(const iovec* pieces, std::size_t count, std::size_t offset, std::size_t length,
                               std::byte* out) {
  std::size_t done = 0;
  for (std::size_t i = 0; i < count && done < length; i++) {
    if (offset >= pieces[i].iov_len) {
      offset -= pieces[i].iov_len;
      continue;
    }
    const std::size_t part = std::min(pieces[i].iov_len - offset, length - done);
    std::memcpy(out + done, static_cast<const std::byte*>(pieces[i].iov_base) + offset, part);
    done += part;
    offset = 0;
  }
  return done;
}

inline void pieces_gather(const iovec* pieces, std::size_t count, std::byte* out) {
  for (std::size_t i = 0; i < count; i++) {
    if (pieces[i].iov_len > 0) std::memcpy(out, pieces[i].iov_base, pieces[i].iov_len);
    out += pieces[i].iov_len;
  }
}

}  // namespace omx::link
