// SPDX-License-Identifier: BSD-3-Clause
// What a process shares between its endpoints: settings, boards, peer names, the open endpoints.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
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
#include "runtime/report/job_report.h"

namespace omx::runtime {

class Process {
 public:
  // Reads settings, finds boards, loads names. Needs no privilege yet. Fails on a malformed configuration
  // (MX_FAILURE; the Failure carries the MX code), or without a usable interface (MX_NO_DEV).
  static Result<std::unique_ptr<Process>> create();
  static Result<std::unique_ptr<Process>> create(const Settings& settings);
  ~Process();  // closes what is still open

  const Settings& settings() const { return settings_; }
  // Returns the boards as they were found. They never change, so threads may read them without a lock.
  const std::vector<Board>& boards() const { return boards_.found(); }
  // Returns a copy with present indices and MAC addresses. An interface that was removed and came back has
  // another index, by which its endpoints are claimed. Costs a few system calls.
  std::vector<Board> boards_now() const { return boards_.now(); }
  PeerTable& peers() { return peers_; }

  // Opens an endpoint. If any endpoint will do, ids are in the outer loop and boards in the inner one, and
  // busy ids are skipped (docs/spec/protocol.md 15). Failures: MX_BUSY 20, MX_BOARD_UNKNOWN 8,
  // MX_BAD_ENDPOINT 9, MX_NO_PERM 7 (names CAP_NET_RAW and the remedies), MX_NO_RESOURCES 15.
  Result<Endpoint*> open(const OpenOptions& options);
  // Closes an endpoint, and waits for unacknowledged sends first. Returns false if it is not one of ours, or
  // if called inside its unexpected handler.
  bool close(Endpoint* endpoint);
  bool owns(const Endpoint* endpoint) const { return endpoints_.owns(endpoint); }
  // Returns the endpoint in a slot; nullptr when the slot is free.
  Endpoint* endpoint_at(std::uint32_t slot) const { return endpoints_.at(slot); }
  // Calls `visit` with each open endpoint. An endpoint cannot be closed meanwhile, not even by the callback.
  void endpoints_visit(const std::function<void(Endpoint&)>& visit) { endpoints_.visit(visit); }

  // Finds a host by its name, MAC address or IP address; "localhost" is the first board. If the table has no
  // answer, this asks the system's resolver. If this process may open a packet socket, it also asks the
  // network (HOST_QUERY, broadcast; ARP for IP addresses) for at most settings.discovery_ms.
  Result<NicFound> host_find(const std::string& hostname) { return names_.host_find(hostname); }
  Result<NicId> nic_of(const std::string& hostname) { return names_.nic_of(hostname); }  // the id only
  // Finds the NIC that has an IP address.
  Result<NicFound> host_at(const link::Ip& ip) { return names_.host_at(ip); }
  // Returns an address of that family that the name resolves to and the NIC has, if the NIC's id holds none.
  // Otherwise nullopt. May ask the network, as host_find() does.
  std::optional<link::Ip> host_ip(const std::string& hostname, NicId nic, link::IpFamily family) {
    return names_.host_ip(hostname, nic, family);
  }
  // Returns a board of this process by one of its names: interface, MAC address, IP address, or host name
  // with the board's number. The first board's number may be left out. Asks the resolver, but not the
  // network. Returns nullptr if there is none.
  const Board* board_named(const std::string& name) { return names_.board_named(name); }
  Result<std::string> name_of(NicId nic) { return names_.name_of(nic); }
  const Board* board_of(NicId nic) const { return boards_.of(nic); }
  // Finds out why an endpoint was not reached. The result is half a sentence for the user that names the
  // remedy, or empty if nothing more is known. With `ask` it asks the network, which takes a third of a
  // second at most. No endpoint may be locked then.
  using Unanswered = runtime::Unanswered;
  Unreached unreached(NicId nic, std::uint8_t endpoint, const Unanswered& how) {
    return unreached_.find(nic, endpoint, how);
  }
  // Returns those of `boards` that an endpoint of `board` uses beside it, as `wanted` says (OMX_RAILS).
  // Boards beyond wire::kRailsMost - 1 are left out.
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
  JobReport report_;
  OpenEndpoints endpoints_;
  std::once_flag exit_watched_;
  LogPrefix prefix_;
  EndpointOpening opening_;
  HostNames names_;
  UnreachedSearch unreached_;
};

}  // namespace omx::runtime
