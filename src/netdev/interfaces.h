// SPDX-License-Identifier: BSD-3-Clause
// The Ethernet interfaces of this host, as boards see them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/expected.h"
#include "base/mac.h"
#include "wire/udp_nic.h"

namespace omx::link {

struct Interface {
  std::string name;
  std::uint32_t index = 0;  // kernel ifindex
  NicId nic = 0;
  std::uint32_t mtu = 0;
  bool up = false;       // administratively up
  bool running = false;  // carrier
  bool loopback = false;
  bool ethernet = false;      // ARPHRD_ETHER
  bool virtual_kind = false;  // no hardware of its own behind it: bridge, tun, veth, bond, loopback ...
  std::string kind;           // "physical", "veth", "bridge", "tun", "loopback", ...; "virtual" when unknown
  std::string master;  // what gets its frames: a bridge, a bond, a macvlan of "passthru"; empty when none
  std::string driver;  // empty when unknown
  std::int64_t speed_mbps = -1;  // -1 unknown
  int numa_node = -1;
  std::string pci_address;  // empty when none
  std::vector<wire::Ip> addresses;
  bool shares_network = false;  // one of them is in a network with room for other hosts
  bool default_route = false;   // leads here
};

// All interfaces of this network namespace, ordered by ifindex. `sysfs` is "/sys" except in tests with a
// recorded tree. The live list comes from the kernel by netlink, as /sys may still show another namespace.
std::vector<Interface> interfaces_list(const std::string& sysfs = "/sys");

// The first of them, for an error text, which has an end (docs/spec/mx-api.md 5).
std::string interfaces_named(const std::vector<Interface>& all);

struct Choice {
  Interface interface;
  bool taken = false;
  std::string reason;  // why it is a board or not, for omx info
};

// What a word of a user's is that means interfaces.
enum class Term : std::uint8_t { name, mac, network, pci, speed, malformed };
Term term_of(std::string_view text);
// Whether it means this one: by its name, "02:4f:4d:58:00:01", "10.77.0.0/24" or "fd4f::1" (it has such an
// address), "0000:3b:00.0", "speed=25g", "speed>=10g" (without a unit: Mb/s).
bool interface_meant(const Interface& i, std::string_view text);
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
