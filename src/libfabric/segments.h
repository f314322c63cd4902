// SPDX-License-Identifier: BSD-3-Clause
// The memory of a call, as the engine takes it.
#pragma once

#include <rdma/fi_atomic.h>
#include <rdma/fi_errno.h>
#include <sys/uio.h>

#include <array>
#include <cstddef>
#include <span>

#include "libfabric/capabilities.h"
#include "protocol/types.h"

namespace omx::fabric {

class Segments {
 public:
  // Takes the pieces. Returns 0, or a negative error code: there are too many, or they are too long together.
  int assign(std::span<const iovec> pieces) {
    if (pieces.size() > kSegmentsMost) return -FI_EINVAL;
    for (const iovec& piece : pieces)
      if (const int error = add(piece.iov_base, piece.iov_len)) return error;
    return 0;
  }
  // Takes pieces of values of `size` bytes in the same way.
  int assign(std::span<const fi_ioc> pieces, std::size_t size) {
    if (pieces.size() > kSegmentsMost) return -FI_EINVAL;
    for (const fi_ioc& piece : pieces) {
      if (piece.count > kMessageMost / size) return -FI_EMSGSIZE;
      if (const int error = add(piece.addr, piece.count * size)) return error;
    }
    return 0;
  }
  std::span<const protocol::Segment> span() const { return {segments_.data(), count_}; }
  std::size_t length() const { return length_; }

 private:
  int add(void* memory, std::size_t length) {
    if (length > kMessageMost - length_) return -FI_EMSGSIZE;
    length_ += length;
    if (length > 0)
      segments_[count_++] = {static_cast<std::byte*>(memory), static_cast<std::uint32_t>(length)};
    return 0;
  }

  std::array<protocol::Segment, kSegmentsMost> segments_;
  std::size_t count_ = 0;
  std::size_t length_ = 0;
};

}  // namespace omx::fabric
