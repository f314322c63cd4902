// SPDX-License-Identifier: BSD-3-Clause
// An endpoint's counters, and now and then what it has in its hands, in a memfd, so that other processes can
// read them without disturbing it: `omx counters`, `top` and `dump` find the holder of an endpoint id by its
// claim, and the memfd (named "omx-counters-IFINDEX-ENDPOINT") in /proc/PID/fd. Nothing is left in a file
// system and the kernel frees it at any exit.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "base/expected.h"
#include "base/own_fd.h"
#include "link/link_counters.h"
#include "local/counters.h"
#include "protocol/counters.h"
#include "protocol/history.h"
#include "protocol/snapshot.h"
#include "runtime/board/claim.h"

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
  // Not 0: another board of an endpoint (docs/explanation/rails.md), whose own board has this index; only
  // `link` counts.
  std::uint32_t rail_of = 0;
  std::uint64_t wakeups = 0;            // times a waiter slept and was woken; of these:
  std::uint64_t wakeups_frame = 0;      // by any frame
  std::uint64_t wakeups_solicited = 0;  // in a stream, by a solicited frame
  std::uint64_t wakeups_moderated = 0;  // in a stream, by the moderation timer
  std::uint64_t takeovers = 0;          // times the progress thread took over
  std::uint64_t deferred = 0;           // sleeps that a solicited frame could not end, as more followed
  std::uint64_t wakeups_lane = 0;       // in a stream, by more of what a solicited frame announced
};

// What an endpoint has in its hands, as it published about once a second: always after it did something, also
// when it sleeps then. A debugger that stops the process, or a thread that keeps the lock, leaves the former
// view.
struct SharedView {
  enum class Driver : std::uint8_t { nobody, application, progress_thread };
  // Equal to `begun`, except while it is written. Written by the lock's holder: `begun` ahead of all between
  // them (base/store_ahead.h), `ended` after all of it, with release.
  std::uint64_t ended = 0;
  protocol::Snapshot snapshot;
  std::uint32_t waiting = 0;  // threads in waiting calls
  Driver driver = Driver::nobody;
  bool stopped = false;  // progression is switched off
  std::uint64_t begun = 0;
  protocol::History history;  // always up to date
};

struct SharedEndpoint {
  SharedCounters counters;
  SharedView view;
};

class CounterSegment {
 public:
  // Falls back to private memory when memfd_create is refused.
  static std::unique_ptr<CounterSegment> create(std::uint32_t ifindex, std::uint32_t endpoint);
  ~CounterSegment();
  SharedCounters& counters() { return shared_->counters; }
  SharedView& view() { return shared_->view; }
  // The interface has another index now, by which other processes find the counters.
  void move(std::uint32_t ifindex) { shared_->counters.ifindex = ifindex; }

 private:
  SharedEndpoint* shared_ = nullptr;
  OwnFd fd_;
};

// Reads another process's counters. Failures: not open, not permitted (other user), other version.
Result<SharedCounters> counters_read(std::uint32_t ifindex, std::uint32_t endpoint);
// Reads counters and view. The view is as the owner published it last.
Result<std::unique_ptr<SharedEndpoint>> endpoint_read(std::uint32_t ifindex, std::uint32_t endpoint);

}  // namespace omx::runtime
