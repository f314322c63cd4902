// SPDX-License-Identifier: BSD-3-Clause
// The options of a packet link.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "netdev/zerocopy_mode.h"

namespace omx::link {

class GrantedSockets;

inline constexpr std::uint32_t kAllHooks = 256;

struct PacketLinkOptions {
  std::string interface = {};  // name
  std::uint8_t endpoint = 0;   // only frames for this endpoint id pass the filter ...
  bool board_frames = true;    // ... and, if set, HOST_QUERY, HOST_REPLY, RAW discovery, and CONNECT requests
                               // to any endpoint id of the board (so that closed ones can be refused)
  bool bulk = true;            // a socket of its own for pull replies, opened by BulkPath::expect()
  bool udp = false;            // a bulk path by UDP, where the interface has an IP address
  ZerocopyMode zerocopy = ZerocopyMode::automatic;  // of the bulk path by UDP, and of frames
  bool all_frames = false;                          // no endpoint filter (tools, raw endpoint)
  // This many endpoints of the interface have a protocol hook of their own. Later ones share a hook
  // (fanout_group.h). From kAllHooks on, the endpoints are not counted.
  std::uint32_t own_sockets = kAllHooks;
  std::uint32_t ring_frames = 1024;  // receive slots; rounded so that the ring stays below ring_bytes
  std::uint32_t ring_bytes = 32U << 20;
  std::uint32_t batch = 32;  // frames per send call
  // If set, the sockets come from here, and the process needs no privilege.
  std::shared_ptr<GrantedSockets> granted = nullptr;
};

}  // namespace omx::link
