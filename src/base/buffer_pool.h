// SPDX-License-Identifier: BSD-3-Clause
// Byte buffers in power-of-two classes, kept for reuse: unexpected messages, early frames, buffered sends
// and long segment lists. Bounded: beyond the limit `get` refuses and the caller applies back-pressure. What
// is kept for reuse counts too: sizes that are out of fashion are given back when others need their room.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace omx {

class BufferPool {
 public:
  // `limit_bytes` bounds what is handed out at one time.
  explicit BufferPool(std::size_t limit_bytes) : limit_(limit_bytes) {}
  BufferPool(const BufferPool&) = delete;
  BufferPool& operator=(const BufferPool&) = delete;
  ~BufferPool();

  // nullptr when the limit or the system's memory is reached. size 0 is served as the smallest class.
  std::byte* get(std::size_t size);
  // `size` as given to get.
  void put(std::byte* buffer, std::size_t size);
  // What get(size) adds to in_use().
  static std::size_t capacity_of(std::size_t size) { return std::size_t{1} << shift_of(size); }
  // Whether get(size) would stay within the limit.
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
  static constexpr int kMaxShift = 32;   // 4 GiB: a message to oneself may be that long
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
