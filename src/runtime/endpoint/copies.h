// SPDX-License-Identifier: BSD-3-Clause
// An endpoint's copy engine: which pieces of arriving messages it gets, what they hold of the link's receive
// ring, and when to wait for them (docs/explanation/copies.md).
#pragma once

#include <memory>
#include <utility>

#include "config/settings.h"
#include "copy/calibration.h"
#include "copy/engine.h"
#include "copy/policy.h"
#include "link/transport.h"
#include "protocol/offload.h"

namespace omx::runtime {

// Return what the settings and a measurement say: which pieces are offloaded, and whether the copy engine
// takes frames of that size from the ring faster than the kernel places them.
copy::Policy copy_policy(const Settings& settings, const copy::Calibration& calibration);
bool ring_better(const Settings& settings, const copy::Calibration& calibration, std::uint32_t piece);

class Copies final : public protocol::Offload {
 public:
  // Returns nullptr when the engine does not work beside the processor, or the link cannot keep frames. A
  // failure says why there is no such engine. Measures once in a process.
  static Result<std::unique_ptr<Copies>> create(const Settings& settings, link::Transport& link);
  Copies(std::unique_ptr<copy::CopyEngine> engine, const copy::Policy& policy, link::Transport& link,
         bool ring);

  // Returns whether large messages should come through the receive ring, and not by paths from which the
  // kernel copies them.
  bool ring() const { return ring_ && !*engine_->disabled_reason() && link_.ring()->room() > 0; }

  // What frames the protocol is handed from now on: whatever will not stay (nothing of it is offloaded); of
  // the link's ring, which stay as long as copies need them; in shared memory, whose sender waits for us.
  enum class Frames : std::uint8_t { passing, of_ring, of_neighbours };
  void frames(Frames kind) { frames_ = kind; }
  // Returns the newest ticket since the last call.
  std::uint64_t taken() { return std::exchange(taken_, 0); }
  bool outstanding() const { return engine_->outstanding() > 0; }
  // Returns whether tend() has something to do.
  bool busy() const { return outstanding() || link_.ring()->held() > 0; }
  // Gives the link the frames of finished copies back. Not while frames are being received.
  void tend();
  // Sleeps until all copies are over, or some time or the deadline has passed.
  void wait(TimeNs deadline);

  Answer copy(const Copy& copy, std::uint64_t& ticket) override;
  std::uint64_t completed() override;
  bool failed(std::uint64_t first, std::uint64_t last) const override;
  void drain() override;

 private:
  std::unique_ptr<copy::CopyEngine> engine_;
  copy::Policy policy_;
  link::Transport& link_;
  bool ring_;
  Frames frames_ = Frames::passing;
  bool abandon_ = false;   // a copy may read the ring indefinitely
  copy::Ticket seen_ = 0;  // all copies up to this one are over
  std::uint64_t taken_ = 0;
};

}  // namespace omx::runtime
