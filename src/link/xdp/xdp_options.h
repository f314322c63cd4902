// SPDX-License-Identifier: BSD-3-Clause
// The options of an AF_XDP link.
#pragma once

#include "link/packet/packet_options.h"
#include "netdev/xdp_mode.h"

namespace omx::link {

struct XdpLinkOptions {
  XdpMode mode = XdpMode::automatic;
  int queue = kAnyQueue;     // of the interface; any: the first that no other process has
  bool busy_poll = false;    // a poll makes the driver poll, too
  bool multi_buffer = true;  // frames may be larger than a piece of memory, where the kernel supports it
  PacketLinkOptions packets =
      {};  // for all that does not come by AF_XDP: `bulk` and `all_frames` have no effect
};

}  // namespace omx::link
