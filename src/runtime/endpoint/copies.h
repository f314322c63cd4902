// SPDX-License-Identifier: BSD-3-Clause
// An endpoint's copy engine. Decides which pieces of arriving messages the engine copies, which frames of
// the receive ring they hold, and when to wait for them (docs/explanation/copies.md).
#pragma once

#include <memory>
#include <utility>

#include "config/settings.h"
#include "copy/calibration.h"
#include "copy/engine.h"
#include "copy/policy.h"
#include "copy/threshold.h"
#include "link/transport.h"
#include "protocol/offload.h"

namespace omx::runtime {

struct CacheFacts {
  bool host_shares = true;   // all processors of this host share a cache
  bool engine_fills = true;  // data that the engine copied are in a cache of the reader
};
CacheFacts cache_facts(const copy::Capabilities& engine);

// Return what follows from the settings and a measurement. copy_options() says how an engine is made,
// copy_policy() which pieces are offloaded. ring_better() says whether the copy engine takes frames of that
// size from the ring faster than the kernel places them.
copy::EngineOptions copy_options(const Settings& settings);
copy::Policy copy_policy(const Settings& settings, const copy::Calibration& calibration,
                         const CacheFacts& caches);
bool ring_better(const Settings& settings, const copy::Calibration& calibration, std::uint32_t piece);

class Copies final : public protocol::Offload {
 public:
  // Returns nullptr if the engine does not work beside the processor, or if the link cannot keep frames. A
  // failure says why there is no such engine. Measures once in a process.
  static Result<std::unique_ptr<Copies>> create(const Settings& settings, link::Transport& link);
  Copies(std::unique_ptr<copy::CopyEngine> engine, const copy::Policy& policy,
         const copy::Calibration& calibration, link::Transport& link, bool ring);

  // Returns whether large messages should come through the receive ring, rather than by paths from which the
  // kernel copies them.
  bool ring() const { return ring_ && !*engine_->disabled_reason() && link_.ring()->slots() > 0; }

  // Which frames the protocol is handed from now on. `passing`: frames that will not stay, so nothing is
  // offloaded. `of_ring`: frames of the link's ring, which stay as long as copies need them.
  // `of_neighbours`: frames in shared memory, whose sender waits for us.
  enum class Frames : std::uint8_t { passing, of_ring, of_neighbours };
  void frames(Frames kind) { frames_ = kind; }
  // Returns the newest ticket since the last call.
  std::uint64_t taken() { return std::exchange(taken_, 0); }
  bool outstanding() const { return engine_->outstanding() > 0; }
  // Returns whether tend() has something to do.
  bool busy() const { return outstanding() || link_.ring()->held() > 0; }
  // Gives the link the frames of finished copies back. Must not be called while frames are being received.
  void tend();
  // Sleeps until all copies are done, some time has passed, or the deadline is reached.
  void wait(TimeNs deadline);

  Answer copy(const Copy& copy, std::uint64_t& ticket) override;
  std::uint64_t completed() override;
  bool failed(std::uint64_t first, std::uint64_t last) const override;
  void ended(std::uint64_t message_bytes, TimeNs waited) override;
  void drain() override;

 private:
  bool worth(const Copy& copy);

  std::unique_ptr<copy::CopyEngine> engine_;
  copy::Policy policy_;
  copy::Threshold threshold_;
  copy::Calibration::Row costs_;  // of a frame's data
  link::Transport& link_;
  bool ring_;
  Frames frames_ = Frames::passing;
  bool abandon_ = false;   // a copy that failed may still read the ring
  copy::Ticket seen_ = 0;  // all copies up to this one are done
  std::uint64_t taken_ = 0;
};

}  // namespace omx::runtime
