// SPDX-License-Identifier: BSD-3-Clause
// One direction between two processes: a ring of records in shared memory, with one writer and one reader.
// A record is a word (kind and length) and its bytes. Together they are a multiple of a cache line, never
// split at the end of the ring. The word is written last, and a reader that polls it finds the bytes in the
// same cache line. So a small frame costs one transfer between the cores. The reader's position is in another
// line, which the writer reads only when it believes the ring to be full.
#pragma once

#include <sys/uio.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/wake_flag.h"

namespace omx::local {

inline constexpr std::size_t kLine = 64;
inline constexpr std::uint32_t kRingVersion = 3;

enum class Kind : std::uint8_t {
  none = 0,      // nothing there yet
  frame = 1,     // as on the cable
  regions = 2,   // where the memory of a large message is
  again = 0x7F,  // the ring goes on at its beginning
};

struct Record {
  Kind kind = Kind::none;
  std::span<const std::byte> bytes;
};

// The start of the shared memory. The records follow at kRecordsAt. Processors fetch neighbouring lines
// together, so each word has more than one line to itself.
struct RingHeader {
  alignas(4 * kLine) std::atomic<std::uint64_t> consumed{0};  // by the reader, bytes since the start
  alignas(4 * kLine) WakeFlag asleep;                         // the reader wants a byte on the connection
};
inline constexpr std::size_t kRecordsAt = 4096;
static_assert(sizeof(RingHeader) <= kRecordsAt && std::atomic<std::uint64_t>::is_always_lock_free);
static_assert(sizeof(WakeFlag) == 4 && std::atomic<std::uint32_t>::is_always_lock_free);

// Returns the bytes of memory that a ring with `bytes` bytes of records (a power of two) occupies.
constexpr std::size_t ring_memory(std::size_t bytes) {
  return kRecordsAt + bytes;
}

class RingWriter {
 public:
  RingWriter() = default;
  // Takes zeroed memory of ring_memory(bytes) bytes, which is not owned.
  RingWriter(std::byte* memory, std::size_t bytes)
      : header_(reinterpret_cast<RingHeader*>(memory)), records_(memory + kRecordsAt), bytes_(bytes) {}

  static constexpr std::size_t longest(std::size_t bytes) { return bytes / 4; }
  // Writes a record of at most longest() bytes, padded with zeros to at least `least`. Returns false when
  // there is no room now.
  bool put(Kind kind, std::span<const iovec> pieces, std::size_t least = 0);
  // Writes a record of one piece.
  bool put(Kind kind, std::span<const std::byte> record);
  // Returns whether the reader has yet to read something.
  bool unread() const { return header_->consumed.load(std::memory_order_acquire) != written_; }
  // Returns whether the reader seems to sleep.
  bool reader_sleeps() const { return header_->asleep.armed(); }
  // Returns, after puts, whether the reader sleeps and must be woken. Returns true once for each sleep.
  bool must_wake() { return header_->asleep.take(); }

 private:
  bool room(std::size_t bytes);
  // Returns where a record of this length goes, or nullptr if there is no room. commit() makes it visible.
  std::byte* reserve(std::size_t length);
  void commit(Kind kind, std::size_t length);
  std::atomic<std::uint32_t>& word(std::uint64_t position) {
    return *reinterpret_cast<std::atomic<std::uint32_t>*>(records_ + (position & (bytes_ - 1)));
  }

  RingHeader* header_ = nullptr;
  std::byte* records_ = nullptr;
  std::size_t bytes_ = 0;
  std::uint64_t written_ = 0;
  std::uint64_t consumed_ = 0;  // as last read
  std::uint64_t cleared_ = 0;   // a position whose word is zero already, unless a record was written over it
};

class RingReader {
 public:
  RingReader() = default;
  RingReader(std::byte* memory, std::size_t bytes)
      : header_(reinterpret_cast<RingHeader*>(memory)), records_(memory + kRecordsAt), bytes_(bytes) {}

  // Returns whether there is a record, at the least cost.
  bool pending() const { return word().load(std::memory_order_relaxed) != 0; }
  // Returns the oldest record, or one of Kind::none when there is none. The writer can still change its
  // bytes, and is trusted as far as a process of the same user.
  Record front();
  void pop();
  // Tells the writer now and then what was popped. The writer reads that only when the ring seems full. The
  // longest record fits even without what was not published.
  void publish() {
    if (read_ - published_ >= bytes_ / 8) publish_all();
  }
  // Tells the writer that all was popped, because it may ask for that (RingWriter::unread).
  void publish_rest() {
    if (read_ != published_) publish_all();
  }
  void publish_all() {
    published_ = read_;
    header_->consumed.store(read_, std::memory_order_release);
  }
  // Makes the writer wake us from now on. Returns false when there is something, and the reader must not
  // sleep.
  bool fall_asleep();
  // Makes the writer wake a reader that sleeps already. What is there must be read after this.
  void arm_again() { header_->asleep.arm(); }
  void wake_up() { header_->asleep.disarm(); }
  // Returns whether the writer broke the rules. If so, nothing more is read.
  bool broken() const { return broken_; }
  // Returns the bytes that were read since the start.
  std::uint64_t position() const { return read_; }

 private:
  std::atomic<std::uint32_t>& word() const {
    return *reinterpret_cast<std::atomic<std::uint32_t>*>(records_ + (read_ & (bytes_ - 1)));
  }

  RingHeader* header_ = nullptr;
  std::byte* records_ = nullptr;
  std::size_t bytes_ = 0;
  std::uint64_t read_ = 0, published_ = 0;
  std::size_t current_ = 0;  // bytes that the front record occupies
  bool broken_ = false;
};

}  // namespace omx::local
