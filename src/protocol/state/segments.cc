// SPDX-License-Identifier: BSD-3-Clause
#include "protocol/state/segments.h"

#include "protocol/types.h"

namespace omx::protocol {

bool SegmentList::assign_many(std::span<const Segment> segments, BufferPool& pool) {
  length_ = 0;
  count_ = static_cast<std::uint32_t>(segments.size());
  for (const Segment& s : segments) length_ += s.length;
  if (count_ == 0) return true;
  many_ = reinterpret_cast<Segment*>(pool.get(count_ * sizeof(Segment)));
  if (!many_) {
    count_ = 0;
    return false;
  }
  std::memcpy(static_cast<void*>(many_), segments.data(), count_ * sizeof(Segment));
  return true;
}

void SegmentList::clear(BufferPool& pool) {
  if (count_ > 1) pool.put(reinterpret_cast<std::byte*>(many_), count_ * sizeof(Segment));
  count_ = 0;
  many_ = nullptr;
}

void SegmentList::write_pieces(std::uint64_t offset, const std::byte* from, std::uint64_t length) const {
  for_range(offset, length, [&](std::byte* base, std::uint64_t bytes) {
    std::memcpy(base, from, bytes);
    from += bytes;
  });
}

void SegmentList::read_pieces(std::uint64_t offset, std::byte* to, std::uint64_t length) const {
  for_range(offset, length, [&](const std::byte* base, std::uint64_t bytes) {
    std::memcpy(to, base, bytes);
    to += bytes;
  });
}

std::byte* SegmentList::piece(std::uint64_t offset, std::uint64_t length) const {
  std::byte* found = nullptr;
  for_range(offset, length, [&](std::byte* base, std::uint64_t bytes) {
    if (bytes == length) found = base;
  });
  return found;
}

std::uint32_t SegmentList::gather(std::uint64_t offset, std::uint64_t length, iovec* out) const {
  std::uint32_t n = 0;
  for_range(offset, length, [&](std::byte* base, std::uint64_t bytes) {
    out[n].iov_base = base;
    out[n].iov_len = bytes;
    n++;
  });
  return n;
}

void segments_copy(const SegmentList& from, const SegmentList& to, std::uint64_t length) {
  std::uint64_t offset = 0;
  for (const Segment& s : from.span()) {
    if (offset >= length) return;
    const std::uint64_t bytes = s.length < length - offset ? s.length : length - offset;
    to.write(offset, s.base, bytes);
    offset += bytes;
  }
}

}  // namespace omx::protocol
