// SPDX-License-Identifier: BSD-3-Clause
#include "protocol/state/state.h"

#include <limits>

namespace omx::protocol {

State::State(const Config& c, wire::FrameSink& frame_sink, Counters& endpoint_counters)
    : config(c),
      sink(frame_sink),
      counters(endpoint_counters),
      default_timeout(c.peer_timeout),
      buffers(c.buffer_bytes),
      send_buffers(c.send_buffer_bytes),
      segment_lists(std::numeric_limits<std::size_t>::max()),
      partner_hash(64, nullptr),
      regions(c.regions_most) {}

}  // namespace omx::protocol
