// SPDX-License-Identifier: BSD-3-Clause
// A slow copy engine for simulated hosts. Copies are made late and in any order, and the frames that they
// read are held until then. Given back frames are overwritten.
#pragma once

#include <functional>
#include <utility>
#include <vector>

#include "base/random.h"
#include "protocol/offload.h"
#include "simulation/engine/events.h"

namespace omx::simulation {

class LateCopies final : public protocol::Offload {
 public:
  // `schedule` is called with the time at which progress() is due.
  LateCopies(std::uint64_t seed, std::function<TimeNs()> clock, std::function<void(TimeNs)> schedule)
      : random_(seed), clock_(std::move(clock)), schedule_(std::move(schedule)) {}

  Answer copy(const Copy& copy, std::uint64_t& ticket) override;
  std::uint64_t completed() override { return completed_; }
  bool failed(std::uint64_t, std::uint64_t) const override { return false; }
  void ended(std::uint64_t, TimeNs) override {}
  void drain() override { make(kNever); }

  // Makes the copies that are due.
  void progress() { make(clock_()); }
  // Returns the newest ticket since the last call, which is that of the frame just handed to the engine. 0:
  // none.
  std::uint64_t taken() { return std::exchange(taken_, 0); }
  // Drops all copies, because the endpoint and its memory are gone.
  void forget();

 private:
  struct Waiting {
    Copy copy;
    std::uint64_t ticket;
    TimeNs at;
  };
  void make(TimeNs until);

  Random random_;
  std::function<TimeNs()> clock_;
  std::function<void(TimeNs)> schedule_;
  std::vector<Waiting> waiting_;  // in the order of their tickets
  std::uint64_t submitted_ = 0, completed_ = 0, taken_ = 0;
};

}  // namespace omx::simulation
