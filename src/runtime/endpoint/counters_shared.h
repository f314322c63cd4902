// SPDX-License-Identifier: BSD-3-Clause
// An endpoint's counters, and now and then a view of its state, in a memfd. Other processes can read them
// without disturbing the endpoint. `omx counters`, `top` and `dump` find the holder of an endpoint id by its
// claim. The memfd is in /proc/PID/fd, named "omx-counters-IFINDEX-ENDPOINT". Nothing is left in a file
// system, and the kernel frees it at any exit.
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
  // The owner copies these from the link and the hub now and then.
  link::LinkCounters link;
  local::HubCounters local;
  // Not 0: the counters of another board of an endpoint (docs/explanation/rails.md). The endpoint's own
  // board has this index, and only `link` counts.
  std::uint32_t rail_of = 0;
  std::uint64_t wakeups = 0;            // times a waiter slept and was woken; the next three are part of it
  std::uint64_t wakeups_frame = 0;      // by any frame
  std::uint64_t wakeups_solicited = 0;  // in a stream, by a solicited frame
  std::uint64_t wakeups_moderated = 0;  // in a stream, by the moderation timer
  std::uint64_t takeovers = 0;          // times the progress thread took over
  std::uint64_t deferred = 0;  // sleeps that a solicited frame could not end, as more messages were to follow
  std::uint64_t wakeups_announced = 0;  // in a stream, by frames that an earlier solicited frame announced
};

// The endpoint's state, published about once a second. It is always published after the endpoint did
// something, even if the endpoint sleeps then. If a debugger stops the process, or a thread keeps the lock,
// the view stays as it was.
struct SharedView {
  enum class Driver : std::uint8_t { nobody, application, progress_thread };
  // Equals `begun`, except while the view is written. The lock's holder writes `begun` before all members
  // between the two (base/store_ahead.h). It writes `ended` after all of them, with release order.
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
  // Says that the interface has another index now, by which other processes find the counters.
  void move(std::uint32_t ifindex) { shared_->counters.ifindex = ifindex; }

 private:
  SharedEndpoint* shared_ = nullptr;
  OwnFd fd_;
};

// Reads another process's counters. Failures: not open, not permitted (other user), other version.
Result<SharedCounters> counters_read(std::uint32_t ifindex, std::uint32_t endpoint);
// Reads counters and view. The view is the one that the owner published last.
Result<std::unique_ptr<SharedEndpoint>> endpoint_read(std::uint32_t ifindex, std::uint32_t endpoint);

}  // namespace omx::runtime
