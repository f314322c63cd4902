// SPDX-License-Identifier: BSD-3-Clause
// Frames through AF_XDP: a program in the driver hands them over before the kernel makes packets of them,
// into memory that this process shares with the NIC where the driver can (docs/xdp-link.md).
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/expected.h"
#include "link/link.h"
#include "netdev/xdp_mode.h"

namespace omx::link {

struct XdpLinkOptions {
  XdpMode mode = XdpMode::automatic;
  int queue = kAnyQueue;     // of the interface; any: the first that no other process has
  bool busy_poll = false;    // looks make the driver look, too
  bool multi_buffer = true;  // frames may be larger than a piece of memory, where the kernel can do that
  PacketLinkOptions packets =
      {};  // for all that does not come by AF_XDP: `bulk` and `all_frames` have no effect
};

// What is in use, or would be.
struct XdpFacts {
  bool generic = false, zero_copy = false, multi_buffer = false;
  std::uint32_t queue = 0;
  std::uint32_t largest_frame = 0;
  std::string why_generic = {};  // the driver's answer, if it refused
};
// "native mode, copying, queue 0, ..."
std::string xdp_facts_text(const XdpFacts& facts);

// False when this build lacks the program; all that can fail then does so with a sentence that says it.
bool xdp_built();

// Falls back to a packet link, with a warning, when all queues are in use by other processes: frames look the
// same by either. All else that is missing is a failure that names the remedy.
Result<std::unique_ptr<Link>> xdp_link_open(const XdpLinkOptions& options);

// Does all that opening does up to a place on the interface, and leaves again. kBusy: all queues are in use.
Result<XdpFacts> xdp_trial(const XdpLinkOptions& options);

}  // namespace omx::link
