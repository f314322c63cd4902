// SPDX-License-Identifier: BSD-3-Clause
// What a process shares between its endpoints: settings, boards, peer names, the open endpoints.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/fork_guard.h"
#include "config/settings.h"
#include "runtime/board/boards.h"
#include "runtime/board/ip_search.h"
#include "runtime/board/peer_table.h"
#include "runtime/endpoint/endpoint.h"
#include "runtime/process/endpoint_opening.h"
#include "runtime/process/host_names.h"
#include "runtime/process/log_prefix.h"
#include "runtime/process/open_endpoints.h"
#include "runtime/process/open_options.h"
#include "runtime/process/process_boards.h"
#include "runtime/process/unreached_search.h"

namespace omx::runtime {

class Process {
 public:
  // Reads settings, finds boards, loads names. No privilege is needed yet. Failures: malformed configuration
  // (MX_FAILURE... the Failure carries the MX code), no usable interface (MX_NO_DEV).
  static Result<std::unique_ptr<Process>> create();
  static Result<std::unique_ptr<Process>> create(const Settings& settings);
  ~Process();  // closes what is still open

  const Settings& settings() const { return settings_; }
  // As they were found. They never change, so that threads may read them without a lock.
  const std::vector<Board>& boards() const { return boards_.found(); }
  // Returns a copy with the indices and MAC addresses of now: an interface that was removed and came back has
  // another index, by which its endpoints are claimed. Costs a few system calls.
  std::vector<Board> boards_now() const { return boards_.now(); }
  PeerTable& peers() { return peers_; }

  // Any endpoint: ids in the outer loop, boards in the inner one, skipping busy ones (docs/spec/protocol.md
  // 15). Failures: MX_BUSY 20, MX_BOARD_UNKNOWN 8, MX_BAD_ENDPOINT 9, MX_NO_PERM 7 (names CAP_NET_RAW and the
  // remedies), MX_NO_RESOURCES 15.
  Result<Endpoint*> open(const OpenOptions& options) { return opening_.open(options); }
  // False when it is not one of ours, and inside its unexpected handler. Lingers for unacknowledged sends.
  bool close(Endpoint* endpoint);
  bool owns(const Endpoint* endpoint) const { return endpoints_.owns(endpoint); }
  // nullptr when the slot is free.
  Endpoint* endpoint_at(std::uint32_t slot) const { return endpoints_.at(slot); }
  // Calls back for each open endpoint, which cannot be closed meanwhile (nor by the callback).
  void endpoints_visit(const std::function<void(Endpoint&)>& visit) { endpoints_.visit(visit); }

  // Names; also a MAC address, an IP address, and "localhost" for the first board. A look-up that the table
  // cannot answer asks the network (HOST_QUERY, broadcast; ARP for IP addresses) for at most
  // settings.discovery_ms if this process may open a packet socket, and the system's resolver.
  Result<NicFound> host_find(const std::string& hostname) { return names_.host_find(hostname); }
  Result<NicId> nic_of(const std::string& hostname) { return names_.nic_of(hostname); }  // the same, in short
  // Finds the NIC that has an IP address.
  Result<NicFound> host_at(const link::Ip& ip) { return names_.host_at(ip); }
  // The address of that family that the resolver knows by the name and the NIC has, where the NIC's id holds
  // none; the network may be asked as above. nullopt: none.
  std::optional<link::Ip> host_ip(const std::string& hostname, NicId nic, link::IpFamily family) {
    return names_.host_ip(hostname, nic, family);
  }
  // A board of this process by one of its names: its interface, MAC address, IP address, host name with its
  // number or, for the first, without it. Does not ask the network, but the resolver. nullptr: none.
  const Board* board_named(const std::string& name) { return names_.board_named(name); }
  Result<std::string> name_of(NicId nic) { return names_.name_of(nic); }
  const Board* board_of(NicId nic) const { return boards_.of(nic); }
  // Why an endpoint was not reached, as half a sentence for people that names the remedy; empty: nothing more
  // is known. With `ask` the network is asked, which takes a third of a second at most: no endpoint may be
  // locked.
  using Unanswered = runtime::Unanswered;
  Unreached unreached(NicId nic, std::uint8_t endpoint, const Unanswered& how) {
    return unreached_.find(nic, endpoint, how);
  }
  // Returns those of `boards` that an endpoint of `board` uses beside it, as `wanted` says (OMX_RAILS); more
  // than wire::kRailsMost - 1 are left out.
  Result<std::vector<const Board*>> rails_of(const std::vector<Board>& boards, const Board& board,
                                             const std::string& wanted) const {
    return opening_.rails_of(boards, board, wanted);
  }

 private:
  Process(const Settings& settings, std::vector<Board> boards);
  Result<void> peers_setup();

  const Settings settings_;
  ProcessBoards boards_;
  PeerTable peers_;
  ForkMark mark_;
  OpenEndpoints endpoints_;
  LogPrefix prefix_;
  EndpointOpening opening_;
  HostNames names_;
  UnreachedSearch unreached_;
};

}  // namespace omx::runtime
