// SPDX-License-Identifier: BSD-3-Clause
#include "protocol/state/state.h"

namespace omx::protocol {

State::State(const Config& c, wire::FrameSink& frame_sink, Counters& endpoint_counters)
    : config(c),
      sink(frame_sink),
      counters(endpoint_counters),
      default_timeout(c.reliability.peer_timeout),
      memory(c),
      regions(c.regions_most),
      bulk(peers.by_index) {}

}  // namespace omx::protocol
