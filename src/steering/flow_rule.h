// SPDX-License-Identifier: BSD-3-Clause
// A rule of a NIC that brings the datagrams of one UDP port into one receive queue (`ethtool -N`).
//
// As a setting it is either there or not, and its name says all of it: "udp4:27201:3@1023" is the rule in
// place 1023 of the NIC's table that brings port 27201 by IPv4 into queue 3. "@any": the NIC chooses places
// by itself; then no other rule may bring the same port there, so that it is known by what it does.
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

// Whether they concern the same datagrams.
inline bool same_port(const FlowRule& a, const FlowRule& b) {
  return a.ipv6 == b.ipv6 && a.port == b.port;
}
inline bool same_work(const FlowRule& a, const FlowRule& b) {
  return same_port(a, b) && a.queue == b.queue;
}

// A place of the table that is taken.
struct FlowPlace {
  std::uint32_t place = 0;
  std::optional<FlowRule> rule;  // nothing: it is of another kind
};

struct FlowTable {
  std::uint32_t places = 0;  // there are
  bool nic_chooses = false;
  std::vector<FlowPlace> taken;
};

std::string flow_name(const FlowRule& rule);
std::optional<FlowRule> flow_parse(std::string_view name);

inline constexpr std::string_view kFlowThere = "there";
inline constexpr std::string_view kFlowAbsent = "none";

}  // namespace omx::steering
