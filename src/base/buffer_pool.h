// SPDX-License-Identifier: BSD-3-Clause
// Byte buffers in power-of-two classes, kept for reuse: unexpected messages, frames that arrived early,
// buffered sends and long segment lists. The pool is bounded: beyond the limit `get` refuses and the caller
// applies back-pressure. Buffers kept for reuse count too. They go back to the system when other sizes need
// their room.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace omx {

class BufferPool {
 public:
  // `limit_bytes` bounds what is handed out and kept for reuse at one time.
  explicit BufferPool(std::size_t limit_bytes) : limit_(limit_bytes) {}
  BufferPool(const BufferPool&) = delete;
  BufferPool& operator=(const BufferPool&) = delete;
  ~BufferPool();

  // Returns a buffer of at least `size` bytes, the smallest class for 0. Returns nullptr at the limit, and
  // when the system has no memory.
  std::byte* get(std::size_t size);
  // Takes a buffer back. `size` is the one that was given to get().
  void put(std::byte* buffer, std::size_t size);
  // Returns how much get(size) adds to in_use().
  static std::size_t capacity_of(std::size_t size) { return std::size_t{1} << shift_of(size); }
  // Returns whether get(size) would stay within the limit.
  bool fits(std::size_t size) const;

  std::size_t in_use() const { return in_use_; }
  std::size_t kept() const { return kept_; }  // for reuse, beside in_use
  std::size_t limit() const { return limit_; }
  void set_limit(std::size_t limit_bytes) {
    limit_ = limit_bytes;
    if (in_use_ + kept_ > limit_) release_kept();
  }

 private:
  static constexpr int kMinShift = 7;    // 128 B
  static constexpr int kMaxShift = 32;   // 4 GiB: a message to the endpoint itself may be that long
  static constexpr int kKeepShift = 20;  // larger buffers go back to the system
  struct Free {
    Free* next;
  };

  static int shift_of(std::size_t size);
  void release_kept();

  std::array<Free*, kMaxShift + 1> free_{};
  std::size_t in_use_ = 0;
  std::size_t kept_ = 0;
  std::size_t limit_;
};

}  // namespace omx
