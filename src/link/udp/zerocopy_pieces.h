// SPDX-License-Identifier: BSD-3-Clause
// Lays out a batch of datagrams for MSG_ZEROCOPY. The kernel then reads all pieces later, headers too.
#pragma once

#include <sys/uio.h>

#include <cstddef>
#include <cstdint>

namespace omx::link {

// A packet without a copy refers to at most so many pages. The kernel may be built for more (MAX_SKB_FRAGS).
inline constexpr std::size_t kZerocopyPages = 17;

std::size_t page_bytes();
// Returns in how many pages the piece lies.
inline std::size_t pages_of(const iovec& piece, std::size_t page) {
  return (reinterpret_cast<std::uintptr_t>(piece.iov_base) % page + piece.iov_len + page - 1) / page;
}

// Memory that its owner uses for other frames as soon as a send call returns.
struct PassingMemory {
  const std::byte* start = nullptr;
  std::size_t bytes = 0;
  bool holds(const void* at) const {
    const auto* byte = static_cast<const std::byte*>(at);
    return byte >= start && byte < start + bytes;
  }
};

// Writes to `out`, which has room for `count` pieces, what the kernel is to read: pieces in passing memory
// are copied to `page`, a page that stays. The other pieces stay where they are. If they lie in one page too
// many, the beginning of the first of them is copied, too. Returns the number of pieces, or 0 if the kernel
// would not take them.
std::size_t zerocopy_lay_out(const iovec* pieces, std::size_t count, const PassingMemory& passing,
                             std::byte* page, iovec* out);

}  // namespace omx::link
