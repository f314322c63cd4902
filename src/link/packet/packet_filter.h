// SPDX-License-Identifier: BSD-3-Clause
// The classic BPF program that lets only one endpoint's frames into its packet socket. It runs in the kernel,
// once per socket and frame, so frames for other endpoints cost neither a ring slot nor a wake-up.
#pragma once

#include <linux/filter.h>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace omx::link {

using FilterProgram = std::vector<sock_filter>;

// Which part of an endpoint's frames a socket takes: all; all but pull replies; pull replies only; all but
// the fragments, pull replies and acknowledgements without the solicited flag.
enum class Lane : std::uint8_t { all, eager, bulk, solicited };

struct FilterRule {
  std::uint8_t endpoint = 0;
  // Frames of other interfaces do not pass: a socket of an interface on which others stand (VLAN, macvlan)
  // gets theirs, too. 0: all pass.
  std::uint32_t ifindex = 0;
  bool board_frames = true;  // as in PacketLinkOptions
  bool all_frames = false;
  Lane lane = Lane::all;
  // Frames for other endpoints than this one and `others`, too: nobody has those open, and they are refused.
  bool closed_ones = false;
  std::vector<std::uint8_t> others = {};
};

// Frames for other hosts and own outgoing copies never pass, whatever the rule.
FilterProgram packet_filter_build(const FilterRule& rule);

// Attaches to a socket; returns 0 or errno. Attach before the socket is bound to a protocol, or frames of
// other endpoints may already wait in it.
int packet_filter_attach(int fd, const FilterProgram& program);

}  // namespace omx::link
