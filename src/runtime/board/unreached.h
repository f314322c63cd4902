// SPDX-License-Identifier: BSD-3-Clause
// Finds out why a peer was not reached, as far as this host can tell alone.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>

#include "link/udp/udp_look.h"
#include "runtime/board/claim.h"

namespace omx::runtime {

struct UnreachedFacts {
  std::uint8_t endpoint = 0;
  bool refused = false;  // the peer or its host refused the connect; else no answer came

  // The peer is on this host.
  bool here = false;
  std::optional<ClaimHolder> holder;  // of its endpoint
  uid_t user = 0;                     // of this process
  bool granted = false;               // by a broker: its sockets also serve other network namespaces

  // How this process reaches other hosts.
  bool udp = false;
  std::string link;        // OMX_LINK
  std::uint16_t port = 0;  // UDP port of that endpoint, the same on both hosts
  std::string advice;      // by UDP: what to check when no answer comes

  // About a peer on another host. Filled in only if the caller has time to ask.
  bool board_answers = false;  // a program there has raw frames of Open-MX, and answered with its name
  std::string address;         // its IP address in the kernel's table of neighbours; empty: none is there
  bool reachable = false;      // the kernel heard from it within the last seconds
  std::optional<link::UdpPort> there;  // state of its UDP port
};

struct Unreached {
  std::string reason;  // half a sentence that names cause and remedy; empty: neither is known
  bool runs = false;   // a program runs there, so starting one is no remedy
};
Unreached unreached_judge(const UnreachedFacts& facts);

}  // namespace omx::runtime
