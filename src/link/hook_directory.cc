// SPDX-License-Identifier: BSD-3-Clause
#include "link/hook_directory.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace omx::link {

namespace {
constexpr int kSeals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;
}

HookMemory::~HookMemory() {
  if (directory_) ::munmap(directory_, sizeof *directory_);
}

bool HookMemory::map() {
  void* memory = ::mmap(nullptr, sizeof(HookDirectory), PROT_READ | PROT_WRITE, MAP_SHARED, fd_.get(), 0);
  if (memory == MAP_FAILED) return false;
  ::madvise(memory, sizeof(HookDirectory), MADV_DONTFORK);
  directory_ = static_cast<HookDirectory*>(memory);
  return true;
}

bool HookMemory::create() {
  fd_ = OwnFd(::memfd_create("open-mx hooks", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  return fd_.open() && ::ftruncate(fd_.get(), sizeof(HookDirectory)) == 0 &&
         ::fcntl(fd_.get(), F_ADD_SEALS, kSeals) == 0 && map();
}

bool HookMemory::adopt(OwnFd fd) {
  fd_ = std::move(fd);
  struct stat facts {};
  const int seals = ::fcntl(fd_.get(), F_GET_SEALS);
  if (seals < 0 || (seals & kSeals) != kSeals || ::fstat(fd_.get(), &facts) < 0 ||
      facts.st_size != static_cast<off_t>(sizeof(HookDirectory)) || !map())
    return false;
  return directory_->magic == HookDirectory::kMagic && directory_->version == HookDirectory::kVersion;
}

}  // namespace omx::link
