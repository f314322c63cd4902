// SPDX-License-Identifier: BSD-3-Clause
// Finds what the protocol engine chooses for an MTU and settings by asking it. It connects two engines in
// memory and reads what one of them knows of the other.
#pragma once

#include <cstdint>

#include "protocol/config.h"
#include "wire/packets.h"

namespace omx::tools {

struct EngineFacts {
  bool connected = false;
  wire::Mode mode = wire::Mode::omx;
  bool checksum = false;
  std::uint32_t frame_max = 0;    // largest frame, Ethernet header included
  bool proven_by_probe = false;   // smaller frames are used until the probe has come back
  std::uint32_t eager_max = 0;    // larger messages go by rendezvous
  std::uint32_t medium_frag = 0;  // data bytes of a medium message's frame
  std::uint32_t pull_reply = 0;   // data bytes of a large message's frame
  std::uint32_t pull_frames = 0;  // frames per block
  std::uint32_t pull_blocks = 0;  // blocks in flight
};

// Returns what our engine chooses. `extended`: the peer is an Open-MX like this one; otherwise it speaks only
// the legacy protocol.
EngineFacts engine_facts(const protocol::Config& settings, std::uint32_t mtu, bool extended);

}  // namespace omx::tools
