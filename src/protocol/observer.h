// SPDX-License-Identifier: BSD-3-Clause
// Reports decisions of the engine that no caller sees, for the simulator's model of matching and for traces.
// Costs one comparison per message when there is no observer.
#pragma once

#include <cstdint>

#include "protocol/types.h"

namespace omx::protocol {

class Observer {
 public:
  // Reports that a message was matched on arrival (`receive`) or is kept as unexpected (nullptr). Called once
  // per message, in the order of matching, but not for messages that an unexpected handler takes.
  virtual void on_arrival(const Peer& from, std::uint64_t match_info, const Request* receive) = 0;

  // Reports that an unexpected message goes with its peer, so no receive will have it.
  virtual void on_dropped(const Peer& from, std::uint64_t match_info) = 0;
  // Reports that the engine is about to fail all that is pending with a peer and to forget its session.
  virtual void on_forget(const Peer& peer, Cleanup why) = 0;

 protected:
  ~Observer() = default;
};

}  // namespace omx::protocol
