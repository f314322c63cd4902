// SPDX-License-Identifier: BSD-3-Clause
// A rule of a NIC that brings the datagrams to one UDP port into one receive queue (`ethtool -N`).
//
// As a Setting (tuning/setting.h) its value is "there" or "none", and its name holds all its fields.
// "udp4:27201:3@1023" is the rule in place 1023 of the NIC's table that brings IPv4 port 27201 into queue 3.
// "@any" means that the NIC chooses places itself. Then the rule is found by port and queue alone. So none is
// added where another rule already brings this port into this queue.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace omx::steering {

inline constexpr std::uint32_t kAnyPlace = 0xffffffff;

struct FlowRule {
  bool ipv6 = false;
  std::uint16_t port = 0;
  std::uint32_t queue = 0;
  std::uint32_t place = kAnyPlace;
};

// Returns whether two rules concern the same datagrams.
inline bool same_port(const FlowRule& a, const FlowRule& b) {
  return a.ipv6 == b.ipv6 && a.port == b.port;
}
inline bool same_work(const FlowRule& a, const FlowRule& b) {
  return same_port(a, b) && a.queue == b.queue;
}

// An occupied place of the table.
struct FlowPlace {
  std::uint32_t place = 0;
  std::optional<FlowRule> rule;  // nothing if the rule is of another kind
};

struct FlowTable {
  std::uint32_t places = 0;  // number of places in the table
  bool nic_chooses = false;
  std::vector<FlowPlace> taken;
};

std::string flow_name(const FlowRule& rule);
std::optional<FlowRule> flow_parse(std::string_view name);

inline constexpr std::string_view kFlowThere = "there";
inline constexpr std::string_view kFlowAbsent = "none";

}  // namespace omx::steering
