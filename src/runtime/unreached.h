// SPDX-License-Identifier: BSD-3-Clause
// Why a peer was not reached, as far as this host can tell without it.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>

#include "link/udp_look.h"
#include "runtime/claim.h"

namespace omx::runtime {

struct UnreachedFacts {
  std::uint8_t endpoint = 0;
  bool refused = false;  // somebody said that the endpoint is closed; else nothing came

  // The peer is on this host.
  bool here = false;
  std::optional<ClaimHolder> holder;  // of its endpoint
  uid_t user = 0;                     // of this process

  // By what this process reaches others.
  bool udp = false;
  std::string link;        // OMX_LINK
  std::uint16_t port = 0;  // UDP port of that endpoint, here as there
  std::string advice;      // by UDP: what to look at when nothing comes

  // Of another host. Asked for only where there is time for it.
  bool board_answers = false;  // a program there has raw frames of Open-MX, and told its name
  std::string address;         // its IP address by the kernel's table of neighbours; empty: it knows none
  bool reachable = false;      // the kernel heard of it within the last seconds
  std::optional<link::UdpPort> there;  // of the UDP port there
};

struct Unreached {
  std::string reason;  // half a sentence for people that names cause and remedy; empty: nothing more is known
  bool runs = false;   // something runs there: to start it is no remedy
};
Unreached unreached_judge(const UnreachedFacts& facts);

}  // namespace omx::runtime
