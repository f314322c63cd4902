// SPDX-License-Identifier: BSD-3-Clause
// Names of hosts and NICs: the table first, then the network and the resolver; where messages go by UDP the
// resolver.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>

#include "config/settings.h"
#include "runtime/board/ip_search.h"
#include "runtime/board/peer_table.h"
#include "runtime/process/open_endpoints.h"
#include "runtime/process/process_boards.h"

namespace omx::runtime {

class HostNames {
 public:
  HostNames(const Settings& settings, const ProcessBoards& boards, PeerTable& peers, OpenEndpoints& endpoints)
      : settings_(settings), boards_(boards), peers_(peers), endpoints_(endpoints) {}

  // Names; also a MAC address, an IP address, and "localhost" for the first board. A look-up that the table
  // cannot answer asks the network (HOST_QUERY, broadcast; ARP for IP addresses) for at most
  // settings.discovery_ms if this process may open a packet socket, and the system's resolver.
  Result<NicFound> host_find(const std::string& hostname);
  Result<NicId> nic_of(const std::string& hostname);  // the same, in short
  // Finds the NIC that has an IP address.
  Result<NicFound> host_at(const link::Ip& ip);
  // The address of that family that the resolver knows by the name and the NIC has, where the NIC's id holds
  // none; the network may be asked as above. nullopt: none.
  std::optional<link::Ip> host_ip(const std::string& hostname, NicId nic, link::IpFamily family);
  // A board of this process by one of its names: its interface, MAC address, IP address, host name with its
  // number or, for the first, without it. Does not ask the network, but the resolver. nullptr: none.
  const Board* board_named(const std::string& name);
  Result<std::string> name_of(NicId nic);

 private:
  const Board* board_by_own_name(const std::string& hostname) const;
  Result<NicFound> host_at_any(std::span<const link::Ip> ips, const std::string& hostname);
  Result<NicFound> host_find_by_udp(const std::string& hostname);
  Result<NicFound> host_find_by_frames(const std::string& hostname);
  Result<bool> discover(NicId nic, const std::function<bool()>& found);

  const Settings& settings_;
  const ProcessBoards& boards_;
  PeerTable& peers_;
  OpenEndpoints& endpoints_;
};

}  // namespace omx::runtime
