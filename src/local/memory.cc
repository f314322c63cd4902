// SPDX-License-Identifier: BSD-3-Clause
#include "local/memory.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <utility>

namespace omx::local {

namespace {
constexpr int kSeals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;
}

SharedMemory::SharedMemory(SharedMemory&& other) noexcept
    : fd_(std::move(other.fd_)),
      base_(std::exchange(other.base_, nullptr)),
      bytes_(std::exchange(other.bytes_, 0)) {}

SharedMemory& SharedMemory::operator=(SharedMemory&& other) noexcept {
  if (this == &other) return *this;
  reset();
  fd_ = std::move(other.fd_);
  base_ = std::exchange(other.base_, nullptr);
  bytes_ = std::exchange(other.bytes_, 0);
  return *this;
}

void SharedMemory::reset() {
  // A forked child never had the mapping, and may use that address for something else.
  if (base_ && !mark_.forked()) ::munmap(base_, bytes_);
  base_ = nullptr;
  bytes_ = 0;
  fd_.reset();
}

bool SharedMemory::map(std::size_t bytes) {
  void* memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd_.get(), 0);
  if (memory == MAP_FAILED) return false;
  // A forked child must neither disturb the ring nor keep it in memory.
  ::madvise(memory, bytes, MADV_DONTFORK);
  base_ = static_cast<std::byte*>(memory);
  bytes_ = bytes;
  return true;
}

SharedMemory SharedMemory::create(std::size_t bytes) {
  SharedMemory memory;
  memory.fd_ = OwnFd(::memfd_create("open-mx local", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!memory.fd_.open() || ::ftruncate(memory.fd_.get(), static_cast<off_t>(bytes)) < 0 ||
      ::fcntl(memory.fd_.get(), F_ADD_SEALS, kSeals) < 0 || !memory.map(bytes)) {
    memory.reset();
  }
  return memory;
}

SharedMemory SharedMemory::adopt(OwnFd fd, std::size_t bytes) {
  SharedMemory memory;
  memory.fd_ = std::move(fd);
  struct stat facts {};
  const int seals = ::fcntl(memory.fd_.get(), F_GET_SEALS);
  if (seals < 0 || (seals & kSeals) != kSeals || ::fstat(memory.fd_.get(), &facts) < 0 ||
      facts.st_size != static_cast<off_t>(bytes) || !memory.map(bytes)) {
    memory.reset();
  }
  return memory;
}

}  // namespace omx::local
