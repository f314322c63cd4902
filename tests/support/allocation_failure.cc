// SPDX-License-Identifier: BSD-3-Clause
// This is a file of its own, as compilers that see the replaced operators inlined warn about new and free.
#include "allocation_failure.h"

#include <cstddef>
#include <cstdlib>
#include <new>

namespace {
thread_local std::int64_t t_left = -1;
thread_local bool t_ordered = false;
}  // namespace

void* operator new(std::size_t size) {
  if (t_left >= 0 && t_left-- == 0) throw std::bad_alloc();
  if (void* memory = std::malloc(size)) return memory;
  throw std::bad_alloc();
}
// std::stable_sort uses it. Without this one, a sanitizer's operator new would meet our delete.
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  return std::malloc(size);
}
void operator delete(void* memory) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
  std::free(memory);
}
void operator delete(void* memory, const std::nothrow_t&) noexcept {
  std::free(memory);
}

namespace omx::runtime {

bool allocation_fail(std::int64_t after) {
  const bool done = t_ordered && t_left < 0;
  t_left = after;
  t_ordered = after >= 0;
  return done;
}

}  // namespace omx::runtime
