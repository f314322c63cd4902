// SPDX-License-Identifier: BSD-3-Clause
// The receiving side of a NIC: descriptors, DMA to memory, queues, and interrupts. The NIC does not know when
// the host takes frames. It calls interrupt(queue), and the host takes frames until it calls
// poll_done(queue).
#pragma once

#include <deque>
#include <functional>
#include <vector>

#include "simulation/nic/moderation.h"
#include "simulation/nic/parameters.h"
#include "simulation/nic/scheduler.h"

namespace omx::simulation::nic {

struct NicOptions {
  Strategy strategy = Strategy::timeout;
  std::uint32_t queues = 1;  // if several: chosen by a frame's endpoint
};

struct NicCounters {
  std::uint64_t frames = 0, dropped = 0, interrupts = 0;
};

class Nic {
 public:
  // interrupt(queue, ns) is called for an interrupt that was raised `ns` ago, while the handler was still
  // running.
  Nic(Scheduler& scheduler, const Parameters& parameters, const NicOptions& options,
      std::function<void(std::uint32_t queue, double ns)> interrupt);

  // Takes a frame from the cable. Returns false if no descriptor is left. Then the frame is lost. With flow
  // control it waits on the cable with all frames behind it.
  bool arrived(std::uint32_t frame, std::size_t bytes, int endpoint, bool marked);
  std::uint32_t queue_of(int endpoint) const;

  // Gives the handler the next frame that was in memory when the interrupt was raised. If the handler keeps
  // polling (NAPI), it gives the next one that is in memory now. Returns false if there is none. Scheduler
  // frames wait for an interrupt of their own. This follows from [C] Table III. There a fragment came 3 us
  // after the marked one, while the host had 60 us of work, and was handled 20 us late.
  bool take(std::uint32_t queue, std::uint32_t& frame);
  // Ends the handler. It may have left frames, for which there is another interrupt.
  void poll_done(std::uint32_t queue);

  const NicCounters& counters() const { return counters_; }
  const Moderator& moderator(std::uint32_t queue) const { return queues_[queue].moderator; }

 private:
  struct Ready {
    std::uint32_t frame;
    bool marked;
  };
  struct Queue {
    explicit Queue(const Moderator& m) : moderator(m) {}
    Moderator moderator;
    std::deque<Ready> ready;
    std::uint32_t held = 0;     // descriptors in use
    std::size_t announced = 0;  // how many of `ready` the last interrupt announced
    bool marked = false;        // the last frame that the handler took
    bool claimed = false;       // from an interrupt until poll_done
    bool owed = false;          // another interrupt follows then,
    TimeNs owed_since = 0;      // which was raised at this time
    bool timer = false;
    std::uint64_t timer_number = 0;
  };
  struct Arrived {
    std::uint32_t frame;
    std::size_t bytes;
    std::uint32_t queue;
    bool marked;
  };
  void accept(const Arrived& arrived);
  bool room(std::uint32_t queue) const { return queues_[queue].held < parameters_.ring_frames; }
  void dma_done(std::uint32_t queue, std::uint32_t frame, bool marked);
  void timer_start(std::uint32_t queue);
  void raise(std::uint32_t queue, double ago_ns = 0);

  Scheduler& scheduler_;
  const Parameters& parameters_;
  NicOptions options_;
  std::function<void(std::uint32_t, double)> interrupt_;
  std::vector<Queue> queues_;
  std::deque<Arrived> paused_;
  TimeNs dma_free_ = 0;
  NicCounters counters_;
};

}  // namespace omx::simulation::nic
