// SPDX-License-Identifier: BSD-3-Clause
// Sees decisions of the engine that no caller sees: for the simulator's model of matching, and for traces.
// Costs one comparison per message when there is none.
#pragma once

#include <cstdint>

#include "protocol/types.h"

namespace omx::protocol {

class Observer {
 public:
  // A message was matched on arrival (`receive`), or is kept as unexpected (nullptr). Once per message, in
  // the order in which they are matched; not for those that an unexpected handler takes.
  virtual void on_arrival(const Partner& from, std::uint64_t match_info, const Request* receive) = 0;

  // A message that was kept as unexpected goes with its partner: no receive will have it.
  virtual void on_dropped(const Partner& from, std::uint64_t match_info) = 0;
  // The engine is about to fail all that is pending with a partner and to forget its session.
  virtual void on_forget(const Partner& partner, Cleanup why) = 0;

 protected:
  ~Observer() = default;
};

}  // namespace omx::protocol
