// SPDX-License-Identifier: BSD-3-Clause
// Anonymous memory that two processes share. It is in no file system, and it is freed when both have ended.
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

  // Returns zeroed memory, of a size that no process can change any more. Not mapped(): there is none.
  static SharedMemory create(std::size_t bytes);
  // Maps the memory of another process. Not mapped(): its size is another one, or could still be changed.
  // Reading such memory would kill us.
  static SharedMemory adopt(OwnFd fd, std::size_t bytes);

  bool mapped() const { return base_ != nullptr; }
  std::byte* data() const { return base_; }
  int descriptor() const { return fd_.get(); }
  // Closes the descriptor, which a mapping does not need.
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
