// SPDX-License-Identifier: BSD-3-Clause
#include "base/own_fd.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "base/no_cancel.h"

namespace omx {

namespace {

constexpr std::size_t kBits = 64;
constinit std::array<std::atomic<std::uint64_t>, 65536 / kBits> g_fds{};

bool known(int fd) {
  return fd >= 0 && static_cast<std::size_t>(fd) < g_fds.size() * kBits;
}
std::atomic<std::uint64_t>& word_of(int fd) {
  return g_fds[static_cast<std::size_t>(fd) / kBits];
}
std::uint64_t bit_of(int fd) {
  return std::uint64_t{1} << (static_cast<std::size_t>(fd) % kBits);
}

}  // namespace

OwnFd::OwnFd(int fd) : fd_(fd) {
  if (known(fd)) word_of(fd).fetch_or(bit_of(fd), std::memory_order_relaxed);
}

void OwnFd::reset() {
  if (fd_ < 0) return;
  const NoCancel no_cancel;
  if (known(fd_)) word_of(fd_).fetch_and(~bit_of(fd_), std::memory_order_relaxed);
  ::close(fd_);
  fd_ = -1;
}

void own_fds_drop() {
  int null = -1;
  for (std::size_t i = 0; i < g_fds.size(); i++) {
    std::uint64_t fds = g_fds[i].exchange(0, std::memory_order_relaxed);
    while (fds != 0) {
      const int fd = static_cast<int>(i * kBits) + __builtin_ctzll(fds);
      fds &= fds - 1;
      if (null < 0) null = ::open("/dev/null", O_RDWR | O_CLOEXEC);
      if (null >= 0)
        ::dup3(null, fd, O_CLOEXEC);
      else
        // no descriptor left for /dev/null: better a free number than an endpoint id that stays taken
        ::close(fd);
    }
  }
  if (null >= 0) ::close(null);
}

}  // namespace omx
