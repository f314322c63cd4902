// SPDX-License-Identifier: BSD-3-Clause
// A NIC with a table of flow rules, behind the ioctl interface that drivers offer.
#pragma once

#include <linux/ethtool.h>

#include <cerrno>
#include <cstring>
#include <functional>
#include <map>

#include "steering/flow_kernel.h"

namespace omx::steering {

class FakeFlows {
 public:
  std::uint32_t places = 0;  // 0: the driver has no rules
  bool chooses = false;
  bool blind = false;                   // returns another rule than it was given
  bool extends = false;                 // sets FLOW_EXT on the rules that it returns, as ixgbe does
  int refuses_deletion = 0;             // errno
  std::function<int()> on_insert = {};  // returns an errno, and may do other things
  std::function<void()> inserted = {};
  std::map<std::uint32_t, ethtool_rx_flow_spec> rules;

  EthtoolCall call() {
    return [this](void* command) { return answer(*static_cast<ethtool_rxnfc*>(command)); };
  }

 private:
  int answer(ethtool_rxnfc& c) {
    if (places == 0) return EOPNOTSUPP;
    switch (c.cmd) {
      case ETHTOOL_GRXCLSRLCNT:
        c.rule_cnt = static_cast<std::uint32_t>(rules.size());
        c.data = places | (chooses ? RX_CLS_LOC_SPECIAL : 0U);
        return 0;
      case ETHTOOL_GRXCLSRLALL:
        return list(c);
      case ETHTOOL_GRXCLSRULE:
        return show(c);
      case ETHTOOL_SRXCLSRLINS:
        return insert(c);
      case ETHTOOL_SRXCLSRLDEL:
        if (refuses_deletion) return refuses_deletion;
        return rules.erase(c.fs.location) ? 0 : ENOENT;
      default:
        return EOPNOTSUPP;
    }
  }
  int list(ethtool_rxnfc& c) const {
    if (c.rule_cnt < rules.size()) return EMSGSIZE;
    c.rule_cnt = 0;
    c.data = places;
    for (const auto& [place, rule] : rules) c.rule_locs[c.rule_cnt++] = place;
    return 0;
  }
  int show(ethtool_rxnfc& c) const {
    const auto at = rules.find(c.fs.location);
    if (at == rules.end()) return EINVAL;
    c.fs = at->second;
    if (extends) c.fs.flow_type |= FLOW_EXT;
    if (blind) c.fs.m_u.udp_ip4_spec.psrc = 0xffff;
    return 0;
  }
  int insert(const ethtool_rxnfc& c) {
    if (on_insert)
      if (const int error = on_insert()) return error;
    std::uint32_t place = c.fs.location;
    if (chooses != (place == RX_CLS_LOC_ANY)) return EINVAL;
    if (chooses) {
      for (place = 0; rules.count(place) != 0;) place++;
    }
    if (place >= places) return ENOSPC;
    rules[place] = c.fs;
    rules[place].location = place;
    if (inserted) inserted();
    return 0;
  }
};

}  // namespace omx::steering
