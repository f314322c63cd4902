// SPDX-License-Identifier: BSD-3-Clause
#include "steering/flow_kernel.h"

#include <arpa/inet.h>
#include <linux/ethtool.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace omx::steering {

namespace {

template <class T>
bool all_zero(const T& data) {
  const auto* bytes = reinterpret_cast<const unsigned char*>(&data);
  return std::all_of(bytes, bytes + sizeof data, [](unsigned char byte) { return byte == 0; });
}

// Returns the rule in `spec` if it is of our kind. Drivers may leave any value where the mask is 0, and may
// set FLOW_EXT without using it.
std::optional<FlowRule> rule_of(const ethtool_rx_flow_spec& spec) {
  const std::uint32_t type = spec.flow_type & ~static_cast<std::uint32_t>(FLOW_EXT | FLOW_MAC_EXT);
  if (type != UDP_V4_FLOW && type != UDP_V6_FLOW) return std::nullopt;
  FlowRule rule;
  rule.ipv6 = type == UDP_V6_FLOW;
  std::uint16_t port = 0, mask = 0;
  ethtool_flow_union other = spec.m_u;
  if (rule.ipv6) {
    port = spec.h_u.udp_ip6_spec.pdst;
    mask = spec.m_u.udp_ip6_spec.pdst;
    other.udp_ip6_spec.pdst = 0;
    if (!all_zero(other.udp_ip6_spec)) return std::nullopt;
  } else {
    port = spec.h_u.udp_ip4_spec.pdst;
    mask = spec.m_u.udp_ip4_spec.pdst;
    other.udp_ip4_spec.pdst = 0;
    if (!all_zero(other.udp_ip4_spec)) return std::nullopt;
  }
  // Queues of virtual functions set further bits, and the value for dropping sets all bits.
  if (mask != 0xffff || !all_zero(spec.m_ext) || spec.ring_cookie > ETHTOOL_RX_FLOW_SPEC_RING)
    return std::nullopt;
  rule.port = ntohs(port);
  rule.queue = static_cast<std::uint32_t>(spec.ring_cookie);
  rule.place = spec.location;
  return rule;
}

void spec_fill(const FlowRule& rule, ethtool_rx_flow_spec& spec) {
  if (rule.ipv6) {
    spec.flow_type = UDP_V6_FLOW;
    spec.h_u.udp_ip6_spec.pdst = htons(rule.port);
    spec.m_u.udp_ip6_spec.pdst = 0xffff;
  } else {
    spec.flow_type = UDP_V4_FLOW;
    spec.h_u.udp_ip4_spec.pdst = htons(rule.port);
    spec.m_u.udp_ip4_spec.pdst = 0xffff;
  }
  spec.ring_cookie = rule.queue;
  spec.location = rule.place == kAnyPlace ? RX_CLS_LOC_ANY : rule.place;
}

}  // namespace

Expected<FlowTable, int> flow_table_read(const EthtoolCall& call) {
  ethtool_rxnfc count{};
  count.cmd = ETHTOOL_GRXCLSRLCNT;
  if (const int error = call(&count)) return tl::unexpected<int>(error);
  // Further rules may appear meanwhile, so allocate some spare room. The structure ends in an array.
  const std::uint32_t room = count.rule_cnt + 64;
  std::vector<std::uint64_t> words((sizeof(ethtool_rxnfc) + room * sizeof(std::uint32_t)) / 8 + 1);
  auto* list = reinterpret_cast<ethtool_rxnfc*>(words.data());
  list->cmd = ETHTOOL_GRXCLSRLALL;
  list->rule_cnt = room;
  if (const int error = call(list)) return tl::unexpected<int>(error);
  FlowTable table;
  table.places = static_cast<std::uint32_t>(list->data & ~std::uint64_t{RX_CLS_LOC_SPECIAL});
  table.nic_chooses = (count.data & RX_CLS_LOC_SPECIAL) != 0;
  for (std::uint32_t i = 0; i < std::min(list->rule_cnt, room); i++) {
    auto place = flow_place_read(call, list->rule_locs[i]);
    if (place)
      table.taken.push_back(*place);
    else if (place.error() != ENOENT)
      table.taken.push_back({list->rule_locs[i], std::nullopt});
  }
  return table;
}

Expected<FlowPlace, int> flow_place_read(const EthtoolCall& call, std::uint32_t place) {
  ethtool_rxnfc one{};
  one.cmd = ETHTOOL_GRXCLSRULE;
  one.fs.location = place;
  const int error = call(&one);
  // Drivers report a free place with either error. A missing table has been reported before.
  if (error == EINVAL || error == ENOENT) return tl::unexpected<int>(ENOENT);
  if (error) return tl::unexpected<int>(error);
  FlowPlace found{place, rule_of(one.fs)};
  if (found.rule) found.rule->place = place;
  return found;
}

int flow_insert(const EthtoolCall& call, const FlowRule& rule) {
  ethtool_rxnfc insert{};
  insert.cmd = ETHTOOL_SRXCLSRLINS;
  spec_fill(rule, insert.fs);
  return call(&insert);
}

int flow_delete(const EthtoolCall& call, std::uint32_t place) {
  ethtool_rxnfc one{};
  one.cmd = ETHTOOL_SRXCLSRLDEL;
  one.fs.location = place;
  return call(&one);
}

}  // namespace omx::steering
