// SPDX-License-Identifier: BSD-3-Clause
// Names of hosts and NICs. The table is asked first, then the network and the resolver. If messages go by
// UDP, only the resolver is asked after the table.
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

  // Finds a host by its name, MAC address or IP address; "localhost" is the first board. If the table has no
  // answer, this asks the system's resolver. If this process may open a packet socket, it also asks the
  // network (HOST_QUERY, broadcast; ARP for IP addresses) for at most settings.discovery_ms.
  Result<NicFound> host_find(const std::string& hostname);
  Result<NicId> nic_of(const std::string& hostname);  // as host_find(), but returns the NIC id only
  // Finds the NIC that has an IP address.
  Result<NicFound> host_at(const link::Ip& ip);
  // Returns an address of that family that the name resolves to and the NIC has, if the NIC's id holds none.
  // Otherwise nullopt. May ask the network, as host_find() does.
  std::optional<link::Ip> host_ip(const std::string& hostname, NicId nic, link::IpFamily family);
  // Returns a board of this process by one of its names: interface, MAC address, IP address, or host name
  // with the board's number. The first board's number may be left out. Asks the resolver, but not the
  // network. Returns nullptr if there is none.
  const Board* board_named(const std::string& name);
  Result<std::string> name_of(NicId nic);

 private:
  const Board* board_by_own_name(const std::string& hostname) const;
  NicId board_of_broker(NicId nic);
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
