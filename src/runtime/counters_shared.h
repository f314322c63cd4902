// SPDX-License-Identifier: BSD-3-Clause
// An endpoint's counters in a memfd, so that other processes can read them without disturbing it: `omx
// counters` finds the holder of an endpoint id by its claim, and the memfd (named
// "omx-counters-IFINDEX-ENDPOINT") in /proc/PID/fd. Nothing is left in a file system and the kernel frees it
// at any exit.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "base/expected.h"
#include "base/own_fd.h"
#include "link/link.h"
#include "local/counters.h"
#include "protocol/counters.h"
#include "runtime/claim.h"

namespace omx::runtime {

struct SharedCounters {
  static constexpr std::uint32_t kMagic = 0x4f4d5843;  // "OMXC"
  std::uint32_t magic = kMagic;
  std::uint32_t count = protocol::kCounterCount;
  std::uint32_t ifindex = 0;
  std::uint32_t endpoint = 0;
  protocol::Counters engine;
  // Copied from the link and the hub now and then by the owner.
  link::LinkCounters link;
  local::HubCounters local;
  std::uint64_t wakeups = 0;            // times a waiter slept and was woken; of these:
  std::uint64_t wakeups_frame = 0;      // by any frame
  std::uint64_t wakeups_bell = 0;       // in a stream, by a marked frame
  std::uint64_t wakeups_moderated = 0;  // in a stream, by the moderation timer
  std::uint64_t takeovers = 0;          // times the progress thread took over
  std::uint64_t deferred = 0;           // sleeps that a marked frame could not end, as more followed
};

class CounterSegment {
 public:
  // Falls back to private memory when memfd_create is refused.
  static std::unique_ptr<CounterSegment> create(std::uint32_t ifindex, std::uint32_t endpoint);
  ~CounterSegment();
  SharedCounters& counters() { return *shared_; }

 private:
  SharedCounters* shared_ = nullptr;
  OwnFd fd_;
};

// Reads another process's counters. Failures: not open, not permitted (other user), other version.
Result<SharedCounters> counters_read(std::uint32_t ifindex, std::uint32_t endpoint);

}  // namespace omx::runtime
