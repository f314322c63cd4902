// SPDX-License-Identifier: BSD-3-Clause
// The software device behind a real descriptor, so that WriteFdPortal is tested with real system calls. The
// descriptor is one end of a socket pair, or another one that is given. A thread reads n x 64 bytes at a time
// from its far end.
#pragma once

#include <atomic>
#include <mutex>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "base/own_fd.h"
#include "copy/emulated_portal.h"

namespace omx::copy {

class EmulatedFile {
 public:
  // Makes a socket pair. near() is its end for the portal.
  explicit EmulatedFile(const EmulatedScript& script);
  // Reads from `far`.
  EmulatedFile(const EmulatedScript& script, OwnFd far);
  ~EmulatedFile();

  OwnFd take_near() { return std::move(near_); }
  // Stops the device from reading while `held`, so that the file fills up.
  void hold(bool held) { held_.store(held); }
  // Orders memory for sanitizers where descriptors come by a way that they do not see through.
  void publish() { published_.fetch_add(1, std::memory_order_release); }

  template <class Look>
  auto with_device(Look look) {
    const std::lock_guard guard(mutex_);
    return look(device_);
  }

 private:
  void run();

  std::mutex mutex_;  // around the device
  EmulatedDevice device_;
  OwnFd near_, far_;
  std::atomic<bool> held_{false}, ending_{false};
  std::atomic<unsigned> published_{0};
  std::thread thread_;
};

// Real time, and pages as the device sees them.
class FileSurroundings final : public DsaSurroundings {
 public:
  explicit FileSurroundings(EmulatedFile& file) : file_(file) {}
  TimeNs now() override { return clock_now(); }
  std::size_t page_bytes() const override { return EmulatedDevice::kPage; }
  void touch(const std::byte* at, std::size_t bytes, bool write) override;
  void wait(const std::uint8_t* status, unsigned times) override { dsa_surroundings().wait(status, times); }

 private:
  EmulatedFile& file_;
};

}  // namespace omx::copy
