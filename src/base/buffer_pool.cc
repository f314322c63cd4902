// SPDX-License-Identifier: BSD-3-Clause
#include "base/buffer_pool.h"

#include <bit>
#include <cassert>
#include <cstdlib>

namespace omx {

BufferPool::~BufferPool() {
  assert(in_use_ == 0);
  release_kept();
}

void BufferPool::release_kept() {
  for (Free*& head : free_) {
    while (head) {
      Free* next = head->next;
      std::free(head);
      head = next;
    }
  }
  kept_ = 0;
}

int BufferPool::shift_of(std::size_t size) {
  if (size <= (std::size_t{1} << kMinShift)) return kMinShift;
  return std::bit_width(size - 1);
}

bool BufferPool::fits(std::size_t size) const {
  const int shift = shift_of(size);
  return shift <= kMaxShift && in_use_ + (std::size_t{1} << shift) <= limit_;
}

std::byte* BufferPool::get(std::size_t size) {
  if (!fits(size)) return nullptr;
  const int shift = shift_of(size);
  const std::size_t capacity = std::size_t{1} << shift;
  Free*& head = free_[static_cast<std::size_t>(shift)];
  std::byte* buffer;
  if (head) {
    buffer = reinterpret_cast<std::byte*>(head);
    head = head->next;
    kept_ -= capacity;
  } else {
    if (in_use_ + kept_ + capacity > limit_) release_kept();
    buffer = static_cast<std::byte*>(std::aligned_alloc(64, capacity));
    if (!buffer) return nullptr;
  }
  in_use_ += capacity;
  return buffer;
}

void BufferPool::put(std::byte* buffer, std::size_t size) {
  if (!buffer) return;
  const int shift = shift_of(size);
  assert(in_use_ >= (std::size_t{1} << shift));
  in_use_ -= std::size_t{1} << shift;
  if (shift > kKeepShift) {
    std::free(buffer);
    return;
  }
  Free* item = reinterpret_cast<Free*>(buffer);
  item->next = free_[static_cast<std::size_t>(shift)];
  free_[static_cast<std::size_t>(shift)] = item;
  kept_ += std::size_t{1} << shift;
}

}  // namespace omx
