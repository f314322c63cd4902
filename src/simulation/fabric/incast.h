// SPDX-License-Identifier: BSD-3-Clause
// Many senders to one receiver, with TCP flows to the same receiver beside them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "simulation/fabric/fabric.h"

namespace omx::simulation::fabric {

struct IncastOptions {
  FabricOptions fabric;
  std::uint32_t senders = 16;
  std::uint32_t length = 64U << 10;
  std::uint32_t messages = 1;  // of each sender, one after the other, if there is no duration
  std::uint32_t at_once = 1;   // messages of a sender under way
  TimeNs duration = 0;         // how long senders begin messages
  std::uint32_t tcp_flows = 0;
  TcpKind tcp_kind = TcpKind::cubic;
  TimeNs tcp_alone = 1000 * protocol::kMillisecond;  // TCP runs before the senders start
  TimeNs ping_every = 0;                             // one more host sends 8 B messages so often; 0: none
};

// The TCP flows within some time, at the port to their receiver.
struct TcpShare {
  double share = 0;  // payload of all flows, relative to the port's rate
  double jain = 0;   // of the flows
  TimeNs rtt_p50 = 0, rtt_p99 = 0;
};

struct IncastResult {
  std::string failure;  // empty: no failure
  std::uint64_t messages = 0, bytes = 0;
  TimeNs time = 0;             // from the first send until the last message is there, or the duration
  double share = 0;            // message bytes that came, relative to the port's rate
  double wire_share = 0;       // all bytes of our frames at the port, with Ethernet overhead
  double jain = 0, least = 0;  // of the senders' bytes at the port; the least one's relative to the mean
  TimeNs p50 = 0, p99 = 0, most = 0;  // of messages' times from send to receive
  TimeNs ideal = 0;  // time if the port sent only needed frames, without a gap (no TCP, one-shot)
  std::uint64_t frames = 0, data_frames = 0, frames_needed = 0, dropped = 0, tcp_dropped = 0;
  std::uint64_t deepest = 0, queue_p50 = 0, queue_p99 = 0,
                marked = 0;  // of the port; the deepest since the start
  TcpShare tcp_alone, tcp;   // before the senders start, and beside them
  std::uint64_t tcp_sent = 0, tcp_sent_again = 0, tcp_timeouts = 0;  // beside the senders
  TimeNs ping_p50 = 0, ping_p99 = 0;
  std::uint64_t digest = 0, events = 0;
};

IncastResult incast_run(const IncastOptions& options);

}  // namespace omx::simulation::fabric
