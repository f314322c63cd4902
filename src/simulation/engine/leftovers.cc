// SPDX-License-Identifier: BSD-3-Clause
#include "simulation/engine/leftovers.h"

#include <fmt/format.h>

#include "protocol/state/state.h"

namespace omx::simulation {

std::string host_leftovers(SimHost& host, bool timers) {
  const protocol::State& s = host.engine().state();
  std::string left;
  const auto none = [&](const char* what, std::uint64_t n) {
    if (n > 0 && left.empty()) left = fmt::format("host {} still has {} {}", host.index(), n, what);
  };
  none("requests", s.memory.requests.live());
  none("unexpected messages", s.memory.unexpected_slab.live());
  none("pulls", s.memory.pulls.live());
  none("bytes asked for", s.pulling.in_flight);
  none("senders of pulls", s.pulling.senders);
  none("reorder buffers", s.memory.reorder_buffers.live());
  none("bytes of buffers", s.memory.buffers.in_use());
  none("bytes of send buffers", s.memory.send_buffers.in_use());
  none("regions", s.regions.used());
  none("sends without acknowledgement", s.completion.buffered_sends);
  if (timers) none("timers", host.engine().next_deadline() != protocol::kNever);
  return left;
}

}  // namespace omx::simulation
