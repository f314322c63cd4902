// SPDX-License-Identifier: BSD-3-Clause
// The classic BPF program that lets only one endpoint's frames into its packet socket. It runs in the
// kernel, once per socket and frame, so frames for other endpoints cost neither a ring slot nor a wake-up.
#pragma once

#include <linux/filter.h>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace omx::link {

using FilterProgram = std::vector<sock_filter>;

// The part of an endpoint's frames that a socket takes. `eager`: all but pull replies. `bulk`: only pull
// replies. `solicited`: all but fragments, pull replies and acknowledgements without the solicited flag.
enum class FrameClass : std::uint8_t { all, eager, bulk, solicited };

struct FilterRule {
  std::uint8_t endpoint = 0;
  // Only frames of this interface pass, or with 0 those of all interfaces. A socket of an interface with
  // others on top of it (VLAN, macvlan) also gets their frames.
  std::uint32_t ifindex = 0;
  bool board_frames = true;  // as in PacketLinkOptions
  bool all_frames = false;
  FrameClass frames = FrameClass::all;
  // Frames for endpoints other than this one and `others` pass, too. No process has those open, so they are
  // refused.
  bool closed_ones = false;
  std::vector<std::uint8_t> others = {};
};

// Builds the program. Frames for other hosts and copies of outgoing frames never pass.
FilterProgram packet_filter_build(const FilterRule& rule);

// Attaches the program to a socket. Returns 0 or errno. Attach it before the socket is bound to a protocol,
// or frames of other endpoints may already wait in it.
int packet_filter_attach(int fd, const FilterProgram& program);

}  // namespace omx::link
