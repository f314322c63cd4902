// SPDX-License-Identifier: BSD-3-Clause
#include "link/fanout/fanout_directory.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace omx::link {

namespace {

constexpr int kSeals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;
constexpr unsigned kPatienceMs = 2000, kPauseMost = 8;

struct flock byte_of(std::uint32_t number) {
  struct flock lock {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  lock.l_start = static_cast<off_t>(number);
  lock.l_len = 1;
  return lock;
}

}  // namespace

FanoutMemory::~FanoutMemory() {
  // A forked child never had the mapping, and may have another one at that address.
  if (directory_ && !mark_.forked()) ::munmap(directory_, sizeof *directory_);
}

bool FanoutMemory::map() {
  void* memory = ::mmap(nullptr, sizeof(FanoutDirectory), PROT_READ | PROT_WRITE, MAP_SHARED, fd_.get(), 0);
  if (memory == MAP_FAILED) return false;
  ::madvise(memory, sizeof(FanoutDirectory), MADV_DONTFORK);
  directory_ = static_cast<FanoutDirectory*>(memory);
  return true;
}

bool FanoutMemory::create() {
  fd_ = OwnFd(::memfd_create("open-mx hooks", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  return fd_.open() && ::ftruncate(fd_.get(), sizeof(FanoutDirectory)) == 0 &&
         ::fcntl(fd_.get(), F_ADD_SEALS, kSeals) == 0 && map();
}

bool FanoutMemory::adopt(OwnFd fd) {
  fd_ = std::move(fd);
  struct stat facts {};
  const int seals = ::fcntl(fd_.get(), F_GET_SEALS);
  if (seals < 0 || (seals & kSeals) != kSeals || ::fstat(fd_.get(), &facts) < 0 ||
      facts.st_size != static_cast<off_t>(sizeof(FanoutDirectory)) || !map())
    return false;
  return directory_->magic == FanoutDirectory::kMagic && directory_->version == FanoutDirectory::kVersion;
}

// Takes the lock on an open file of its own. A lock belongs to an open file, and all processes share that of
// the memory.
OwnFd FanoutMemory::lock(std::uint32_t number) const {
  OwnFd fd(::open(fmt::format("/proc/self/fd/{}", fd_.get()).c_str(), O_RDWR | O_CLOEXEC));
  if (!fd.open()) return fd;
  struct flock wish = byte_of(number);
  if (::fcntl(fd.get(), F_OFD_SETLK, &wish) < 0) {
    const int error = errno == EACCES ? EAGAIN : errno;
    fd.reset();
    errno = error;
  }
  return fd;
}

bool FanoutMemory::locked(std::uint32_t number) const {
  struct flock look = byte_of(number);
  return ::fcntl(fd_.get(), F_OFD_GETLK, &look) < 0 || look.l_type != F_UNLCK;
}

FanoutLock::FanoutLock(const FanoutMemory& memory, std::uint32_t number) {
  std::atomic<std::uint32_t>& turns = memory.get()->turns[number];
  std::atomic<std::uint32_t>& stuck = memory.get()->stuck[number];
  std::uint32_t seen = turns.load(std::memory_order_relaxed);
  const bool hopeless = stuck.load(std::memory_order_relaxed) == seen + 1;
  // Many processes may wait, so each tries again after longer and longer pauses.
  unsigned pause = 1, waited = 0;
  for (;;) {
    fd_ = memory.lock(number);
    if (fd_.open() || errno != EAGAIN || hopeless) break;
    const std::uint32_t now = turns.load(std::memory_order_relaxed);
    if (now != seen) waited = 0;
    seen = now;
    if (waited >= kPatienceMs) {
      stuck.store(seen + 1, std::memory_order_relaxed);
      break;
    }
    nap(pause);
    waited += pause;
    pause = std::min(2 * pause, kPauseMost);
  }
  if (fd_.open()) turns.fetch_add(1, std::memory_order_relaxed);
}

void nap(unsigned ms) {
  const timespec time{0, long{ms} * 1'000'000};
  ::nanosleep(&time, nullptr);
}

}  // namespace omx::link
