// SPDX-License-Identifier: BSD-3-Clause
// Anonymous memory that two processes share: nothing in any file system, gone with the last of them.
#pragma once

#include <cstddef>

#include "base/fork_guard.h"
#include "base/own_fd.h"

namespace omx::local {

class SharedMemory {
 public:
  SharedMemory() = default;
  SharedMemory(SharedMemory&& other) noexcept;
  SharedMemory& operator=(SharedMemory&& other) noexcept;
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;
  ~SharedMemory() { reset(); }

  // Zeroed; of a size that nobody can change any more. Not mapped() without memory.
  static SharedMemory create(std::size_t bytes);
  // Of another process. Not mapped() when its size is another one, or could still be changed: reading it
  // would kill us.
  static SharedMemory adopt(OwnFd fd, std::size_t bytes);

  bool mapped() const { return base_ != nullptr; }
  std::byte* data() const { return base_; }
  int descriptor() const { return fd_.get(); }
  // A mapping needs no descriptor.
  void descriptor_close() { fd_.reset(); }
  void reset();

 private:
  bool map(std::size_t bytes);

  OwnFd fd_;
  std::byte* base_ = nullptr;
  std::size_t bytes_ = 0;
  ForkMark mark_;
};

}  // namespace omx::local
