// SPDX-License-Identifier: BSD-3-Clause
// The agent of `omx check --hosts`: does on its host what the coordinator asks for, until that ends.
#pragma once

#include <string>

#include "base/expected.h"
#include "tools/cluster/channel.h"

namespace omx::tools {

// The agent's end of the way to the coordinator.
class AgentSeat {
 public:
  virtual ~AgentSeat() = default;
  // Returns what to poll for a request, or -1: then take() is called every `kSeatPauseNs`.
  virtual int descriptor() const = 0;
  // Returns a request if there is one. Never blocks.
  virtual std::optional<Record> take() = 0;
  // Returns whether the coordinator is gone.
  virtual bool ended() = 0;
  virtual void send(const Record& record) = 0;
};
inline constexpr TimeNs kSeatPauseNs = 20'000'000;

// Serves the coordinator at stdin and stdout. Returns the exit status.
int agent_run();
// Serves the coordinator at another seat.
int agent_run(AgentSeat& seat);

}  // namespace omx::tools
