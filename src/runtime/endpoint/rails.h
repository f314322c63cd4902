// SPDX-License-Identifier: BSD-3-Clause
// The other boards of an endpoint (docs/explanation/rails.md). Each has a link, and all links are polled and
// slept on. Usually there are none.
#pragma once

#include <memory>
#include <vector>

#include "protocol/config.h"
#include "runtime/endpoint/endpoint_core.h"
#include "runtime/endpoint/rail.h"
#include "runtime/wait/sleeping.h"
#include "runtime/wait/waiters.h"

namespace omx::runtime {

class Rails {
 public:
  Rails(EndpointCore& core, FrameIntake& intake, ExpectedFrames& expected, Waiters& waiters,
        Sleeping& sleeping)
      : core_(core), intake_(intake), expected_(expected), waiters_(waiters), sleeping_(sleeping) {}

  // Opens the links, before the engine starts. Leaves out boards that the endpoint cannot have, with a
  // message.
  void open(std::vector<RailClaim> claims);
  // Stores the facts about the rails that the engine needs.
  void fill(protocol::Config& config) const;

  bool empty() const { return rails_.empty(); }
  const std::vector<std::unique_ptr<Rail>>& all() const { return rails_; }
  bool pending() const;
  std::size_t receive(std::size_t budget);
  std::size_t receive_bulk(std::size_t budget);

  // Returns the MTU of all boards of the endpoint, its own included.
  std::uint32_t mtu() const;
  std::uint64_t frames_received() const;
  // Publishes the counters of the rails' links for other processes.
  void publish() const;

 private:
  EndpointCore& core_;
  FrameIntake& intake_;
  ExpectedFrames& expected_;
  Waiters& waiters_;
  Sleeping& sleeping_;
  std::vector<std::unique_ptr<Rail>> rails_;
};

}  // namespace omx::runtime
