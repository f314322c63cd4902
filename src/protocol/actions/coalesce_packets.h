// SPDX-License-Identifier: BSD-3-Clause
// Coalescing of packets without data (docs/reference/wire.md 14). Requests, acknowledgements and reports of
// one turn to one endpoint share frames. So do announcements of large messages that have others before them.
// A stream of large messages needs three such packets for each, and a frame costs as much as 10 KiB of data.
#pragma once

#include <cstddef>

#include "protocol/state/peer.h"
#include "protocol/state/state.h"
#include "wire/frame_io.h"

namespace omx::protocol {

// While this object lives, packets without data may wait for coalesce_release().
class MayCoalescePackets {
 public:
  explicit MayCoalescePackets(State& s, bool may = true) : s_(s), before_(s.coalescing.packets_allowed) {
    s_.coalescing.packets_allowed = may;
  }
  ~MayCoalescePackets() { s_.coalescing.packets_allowed = before_; }
  MayCoalescePackets(const MayCoalescePackets&) = delete;
  MayCoalescePackets& operator=(const MayCoalescePackets&) = delete;

 private:
  State& s_;
  const bool before_;
};

// A packet without data, with its Ethernet header.
struct Draft {
  std::byte header[wire::kHeaderCapacity];
  std::size_t length = 0;
};

// Sends a packet without data, or lets it wait for others.
void packet_send(State& s, Peer& p, const Draft& draft);
// Sends a packet by a board that is not the peer's home. It shares no frame.
void packet_send_by(State& s, const Peer& p, const Draft& draft, unsigned rail);

}  // namespace omx::protocol
