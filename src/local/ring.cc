// SPDX-License-Identifier: BSD-3-Clause
#include "local/ring.h"

#include <cassert>
#include <cstring>

namespace omx::local {

namespace {

constexpr unsigned kKindShift = 24;
constexpr std::uint32_t kLengthMask = (1U << kKindShift) - 1;
constexpr std::size_t kWord = sizeof(std::uint32_t);

constexpr std::size_t occupied(std::size_t length) {
  return (kWord + length + kLine - 1) & ~(kLine - 1);
}
constexpr std::uint32_t word_of(Kind kind, std::size_t length) {
  return static_cast<std::uint32_t>(kind) << kKindShift | static_cast<std::uint32_t>(length);
}

}  // namespace

bool RingWriter::room(std::size_t bytes) {
  if (written_ + bytes - consumed_ <= bytes_) return true;
  consumed_ = header_->consumed.load(std::memory_order_acquire);
  return written_ + bytes - consumed_ <= bytes_;
}

std::byte* RingWriter::reserve(std::size_t length) {
  assert(header_ && length <= longest(bytes_));
  const std::size_t needed = occupied(length);
  const std::size_t to_end = bytes_ - (written_ & (bytes_ - 1));
  const std::size_t skipped = needed > to_end ? to_end : 0;
  // One line more is needed, which says that nothing follows.
  if (!room(skipped + needed + kLine)) return nullptr;
  if (skipped > 0) {
    word(written_ + skipped).store(0, std::memory_order_relaxed);
    word(written_).store(word_of(Kind::again, 0), std::memory_order_release);
    written_ += skipped;
  }
  if (written_ + needed != cleared_) word(written_ + needed).store(0, std::memory_order_relaxed);
  return records_ + (written_ & (bytes_ - 1)) + kWord;
}

void RingWriter::commit(Kind kind, std::size_t length) {
  const std::size_t needed = occupied(length);
  word(written_).store(word_of(kind, length), std::memory_order_release);
  written_ += needed;
  // The next record, if it is as long as this one, clears a line that the reader's core has. A store to that
  // line ahead of the record would let the reader wait twice as long.
  if (written_ + needed + kLine - consumed_ <= bytes_) {
    cleared_ = written_ + needed;
    word(cleared_).store(0, std::memory_order_relaxed);
  }
}

bool RingWriter::put(Kind kind, std::span<const iovec> pieces, std::size_t least) {
  std::size_t length = 0;
  for (const iovec& piece : pieces) length += piece.iov_len;
  const std::size_t padding = length < least ? least - length : 0;
  length += padding;
  std::byte* out = reserve(length);
  if (!out) return false;
  for (const iovec& piece : pieces) {
    if (piece.iov_len > 0) std::memcpy(out, piece.iov_base, piece.iov_len);
    out += piece.iov_len;
  }
  if (padding > 0) std::memset(out, 0, padding);
  commit(kind, length);
  return true;
}

bool RingWriter::put(Kind kind, std::span<const std::byte> record) {
  std::byte* const out = reserve(record.size());
  if (!out) return false;
  std::memcpy(out, record.data(), record.size());
  commit(kind, record.size());
  return true;
}

Record RingReader::front() {
  if (broken_) return {};
  for (int laps = 0; laps < 2; laps++) {
    const std::uint32_t value = word().load(std::memory_order_acquire);
    if (value == 0) return {};
    const auto kind = static_cast<Kind>(value >> kKindShift);
    const std::size_t at = read_ & (bytes_ - 1);
    if (kind == Kind::again) {
      read_ += bytes_ - at;
      continue;
    }
    const std::size_t length = value & kLengthMask;
    current_ = occupied(length);
    if (kind == Kind::none || length > RingWriter::longest(bytes_) || at + current_ > bytes_) break;
    // The next record is polled for before this one is answered, and its line is in the writer's cache.
    __builtin_prefetch(records_ + ((read_ + current_) & (bytes_ - 1)));
    return {kind, {records_ + at + kWord, length}};
  }
  broken_ = true;
  return {};
}

void RingReader::pop() {
  assert(current_ > 0);
  read_ += current_;
}

bool RingReader::fall_asleep() {
  publish_all();
  header_->asleep.arm();
  if (!pending() && !broken_) return true;
  wake_up();
  return false;
}

}  // namespace omx::local
