// SPDX-License-Identifier: BSD-3-Clause
// The user memory of a request: up to kMaxSegments pieces seen as one range of bytes.
#pragma once

#include <sys/uio.h>

#include <cassert>
#include <cstdint>
#include <cstring>
#include <span>

#include "base/buffer_pool.h"
#include "protocol/types.h"

namespace omx::protocol {

class SegmentList {
 public:
  SegmentList() = default;
  SegmentList(const SegmentList&) = delete;
  SegmentList& operator=(const SegmentList&) = delete;

  // Copies the list (not the data). One segment is kept inline; longer lists come from `pool`. Returns false
  // when there is no memory. The list is released with clear().
  bool assign(std::span<const Segment> segments, BufferPool& pool) {
    if (segments.size() != 1) [[unlikely]]
      return assign_many(segments, pool);
    one_ = segments[0];
    length_ = one_.length;
    count_ = 1;
    return true;
  }
  void clear(BufferPool& pool);

  std::uint32_t count() const { return count_; }
  std::uint64_t length() const { return length_; }
  std::span<const Segment> span() const { return {count_ > 1 ? many_ : &one_, count_}; }

  // Copies bytes between a flat buffer and [offset, offset + length) of the list. The range must be inside.
  void write(std::uint64_t offset, const std::byte* from, std::uint64_t length) const {
    if (std::byte* const place = sole(offset, length)) [[likely]]
      std::memcpy(place, from, length);
    else
      write_pieces(offset, from, length);
  }
  void read(std::uint64_t offset, std::byte* to, std::uint64_t length) const {
    if (const std::byte* const place = sole(offset, length)) [[likely]]
      std::memcpy(to, place, length);
    else
      read_pieces(offset, to, length);
  }

  // Returns where [offset, offset + length) lies, or nullptr if it is not in one piece.
  std::byte* piece(std::uint64_t offset, std::uint64_t length) const;

  // Writes references to [offset, offset + length) to `out`. Returns how many there are, at most count().
  std::uint32_t gather(std::uint64_t offset, std::uint64_t length, iovec* out) const;

  // Calls visit(base, bytes) for each piece of the range.
  template <class Visit>
  void for_range(std::uint64_t offset, std::uint64_t length, Visit visit) const {
    for (const Segment& s : span()) {
      if (length == 0) return;
      if (offset >= s.length) {
        offset -= s.length;
        continue;
      }
      const std::uint64_t bytes = s.length - offset < length ? s.length - offset : length;
      visit(s.base + offset, bytes);
      offset = 0;
      length -= bytes;
    }
  }

 private:
  // Most lists have one piece. Their calls come here without a loop: returns where the range lies.
  std::byte* sole(std::uint64_t offset, std::uint64_t length) const {
    if (count_ != 1 || length == 0) return nullptr;
    assert(offset + length <= one_.length);
    return one_.base + offset;
  }
  bool assign_many(std::span<const Segment> segments, BufferPool& pool);
  void write_pieces(std::uint64_t offset, const std::byte* from, std::uint64_t length) const;
  void read_pieces(std::uint64_t offset, std::byte* to, std::uint64_t length) const;

  Segment one_;
  Segment* many_ = nullptr;
  std::uint32_t count_ = 0;
  std::uint64_t length_ = 0;
};

// Copies `length` bytes from the start of one list to the start of another.
void segments_copy(const SegmentList& from, const SegmentList& to, std::uint64_t length);

}  // namespace omx::protocol
