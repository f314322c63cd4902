// SPDX-License-Identifier: BSD-3-Clause
#include "emulated_file.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>

namespace omx::copy {

EmulatedFile::EmulatedFile(const EmulatedScript& script) : device_(script) {
  int pair[2] = {-1, -1};
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair) == 0) {
    near_ = OwnFd(pair[0]);
    far_ = OwnFd(pair[1]);
  }
  thread_ = std::thread([this] { run(); });
}

EmulatedFile::EmulatedFile(const EmulatedScript& script, OwnFd far) : device_(script), far_(std::move(far)) {
  thread_ = std::thread([this] { run(); });
}

EmulatedFile::~EmulatedFile() {
  ending_.store(true);
  thread_.join();
}

void EmulatedFile::run() {
  std::vector<std::byte> backlog;  // bytes read while the device's queue is full
  while (!ending_.load()) {
    pollfd ready{far_.get(), POLLIN, 0};
    if (held_.load())
      ready.events =
          // A device is faster than a timer of milliseconds, but does not take the processor from other
          // threads.
          0;
    const bool work =
        !backlog.empty() || with_device([](const EmulatedDevice& d) { return d.pending() > 0; });
    const timespec patience{0, work ? 50'000 : 1'000'000};
    ::ppoll(&ready, 1, &patience, nullptr);
    if (!held_.load() && backlog.size() < 4096 && ready.revents & POLLIN) {
      std::byte buffer[4096];
      const ssize_t n = ::read(far_.get(), buffer, sizeof buffer);
      if (n > 0) backlog.insert(backlog.end(), buffer, buffer + n);
    }
    (void)published_.load(std::memory_order_acquire);
    const std::lock_guard guard(mutex_);
    const PortalAnswer answer = device_.submit(backlog);
    backlog.erase(backlog.begin(), backlog.begin() + static_cast<std::ptrdiff_t>(answer.accepted * 64));
    if (answer.error) backlog.clear();  // a kernel would have returned the error to the writer
    device_.step(clock_now());
  }
}

void FileSurroundings::touch(const std::byte* at, std::size_t bytes, bool write) {
  dsa_surroundings().touch(at, bytes, write);
  file_.with_device([&](EmulatedDevice& device) { device.touched(at, bytes); });
}

}  // namespace omx::copy
