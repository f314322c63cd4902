// SPDX-License-Identifier: BSD-3-Clause
// Chooses which interfaces of this host become boards.
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

// Returns what is wrong with a word that means no existing interface. `variable` is the setting that holds
// it.
std::string term_failure(const std::vector<Interface>& all, std::string_view text, const char* variable);

// Returns which interfaces become boards, and in which order. `wanted` is OMX_INTERFACES, a comma-separated
// list of such words. Boards are in the order of the list.
// - A named interface is taken even when it is down. Any other word takes no loopback, and no port of a
//   bridge or bond.
// - A MAC address takes no VLAN on the port that has this address, too.
// - A speed takes only interfaces that are taken by default, the fastest first.
// - "all" takes every Ethernet interface.
// - Empty takes every Ethernet interface that is up, those with carrier first. It takes no bridge, docker,
//   tun or loopback, and no port of a bridge or bond.
// A veth or macvlan is taken when the host has no interface of its own that is up, because that host is a
// container. Containers inside of it have veths here, too. So among those with carrier, the one with the
// default route comes first, then those with an address in a network that other hosts share.
// Interfaces that are not taken follow in the list, with the reason. A word that means no interface is a
// Failure, which names the interfaces there are. Reasons and failures name the setting `variable`, which
// holds the list.
Result<std::vector<Choice>> interfaces_choose(const std::vector<Interface>& all, const std::string& wanted,
                                              const char* variable = "OMX_INTERFACES");

}  // namespace omx::link
