// SPDX-License-Identifier: BSD-3-Clause
// Which interfaces of this host become boards.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/expected.h"
#include "netdev/interface.h"

namespace omx::link {

struct Choice {
  Interface interface;
  bool taken = false;
  std::string reason;  // why it is a board or not, for omx info
};

// What is wrong with a word that means none of those that are there; `variable` holds it.
std::string term_failure(const std::vector<Interface>& all, std::string_view text, const char* variable);

// Which interfaces become boards, and in which order. `wanted` is OMX_INTERFACES: a comma-separated list of
// such words gives the boards in that order. A named interface is taken even when it is down. Any other word
// takes no loopback and no port of a bridge or bond; a MAC address no VLAN on the port that has it, too; a
// speed only what is taken by default, the fastest first. "all" takes everything Ethernet; empty takes every
// up Ethernet interface that is not a bridge, docker, tun or loopback, nor a port of a bridge or bond, those
// with carrier first. A veth or macvlan is taken when the host has no interface of its own that is up: that
// is a container. Containers inside of it have veths here, too, so of those with carrier the one with the
// default route comes first, then those with an address in a network that other hosts share. Interfaces that
// are not taken follow in the list, with the reason. A word that means none is a Failure that names
// `variable`, which holds it, and the interfaces there are.
Result<std::vector<Choice>> interfaces_choose(const std::vector<Interface>& all, const std::string& wanted,
                                              const char* variable = "OMX_INTERFACES");

}  // namespace omx::link
