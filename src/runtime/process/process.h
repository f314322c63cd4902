// SPDX-License-Identifier: BSD-3-Clause
// What a process shares between its endpoints: settings, boards, peer names, the open endpoints.
#pragma once

#include <atomic>
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
#include "runtime/running_deadline.h"

namespace omx::runtime {

struct RailClaim;
struct Unreached;
struct UnreachedFacts;

inline constexpr std::uint32_t kAnyBoard = 0xFFFFFFFF;
inline constexpr std::uint32_t kAnyEndpoint = 0xFFFFFFFF;
inline constexpr std::uint32_t kSlots = 4096;  // endpoints that a process can have open

struct OpenOptions {
  std::uint32_t board = kAnyBoard;
  std::uint32_t endpoint = kAnyEndpoint;
  std::uint32_t key = 0;
  std::uint32_t context_bits = 0, context_shift = 0;
  bool all_boards = false;  // uses all of them together, whatever OMX_RAILS says
};

class Process {
 public:
  // Reads settings, finds boards, loads names. No privilege is needed yet. Failures: malformed configuration
  // (MX_FAILURE... the Failure carries the MX code), no usable interface (MX_NO_DEV).
  static Result<std::unique_ptr<Process>> create();
  static Result<std::unique_ptr<Process>> create(const Settings& settings);
  ~Process();  // closes what is still open

  const Settings& settings() const { return settings_; }
  // As they were found. They never change, so that threads may read them without a lock.
  const std::vector<Board>& boards() const { return boards_; }
  // Returns a copy with the indices and MAC addresses of now: an interface that was removed and came back has
  // another index, by which its endpoints are claimed. Costs a few system calls.
  std::vector<Board> boards_now() const;
  PeerTable& peers() { return peers_; }

  // Any endpoint: ids in the outer loop, boards in the inner one, skipping busy ones (docs/spec/protocol.md
  // 15). Failures: MX_BUSY 20, MX_BOARD_UNKNOWN 8, MX_BAD_ENDPOINT 9, MX_NO_PERM 7 (names CAP_NET_RAW and the
  // remedies), MX_NO_RESOURCES 15.
  Result<Endpoint*> open(const OpenOptions& options);
  // False when it is not one of ours, and inside its unexpected handler. Lingers for unacknowledged sends.
  bool close(Endpoint* endpoint);
  bool owns(const Endpoint* endpoint) const;
  // nullptr when the slot is free.
  Endpoint* endpoint_at(std::uint32_t slot) const;
  // Calls back for each open endpoint, which cannot be closed meanwhile (nor by the callback).
  void endpoints_visit(const std::function<void(Endpoint&)>& visit);

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
  const Board* board_of(NicId nic) const;
  // Why an endpoint was not reached, as half a sentence for people that names the remedy; empty: nothing more
  // is known. With `ask` the network is asked, which takes a third of a second at most: no endpoint may be
  // locked.
  struct Unanswered {
    bool refused = false;  // somebody said that it is closed; else nothing came
    std::string advice;    // Endpoint::silence_advice
    bool ask = false;
  };
  Unreached unreached(NicId nic, std::uint8_t endpoint, const Unanswered& how);
  // Returns those of `boards` that an endpoint of `board` uses beside it, as `wanted` says (OMX_RAILS); more
  // than wire::kRailsMost - 1 are left out.
  Result<std::vector<const Board*>> rails_of(const std::vector<Board>& boards, const Board& board,
                                             const std::string& wanted) const;

 private:
  Process();
  void log_setup();
  void log_name_endpoint(const Board& board, std::uint32_t id);
  Result<void> peers_setup();
  Result<Endpoint*> open_claimed(const std::vector<Board>& boards, const Board& board, std::uint32_t id,
                                 Claim claim, const OpenOptions& options, std::vector<RailClaim> rails);
  static std::optional<std::vector<RailClaim>> rails_claim(const Board& board, std::uint32_t id,
                                                           const std::vector<const Board*>& others,
                                                           bool must);
  Result<Endpoint*> open_found(const OpenOptions& options);
  std::optional<std::uint32_t> slot_find();
  bool close_until(Endpoint* endpoint, RunningDeadline& deadline);
  // Gives each open endpoint that no thread uses a turn: a call that waits must not keep peers waiting.
  void endpoints_help();
  const Board* board_by_own_name(const std::string& hostname) const;
  Result<NicFound> host_at_any(std::span<const link::Ip> ips, const std::string& hostname);
  Result<NicFound> host_find_by_udp(const std::string& hostname);
  Result<NicFound> host_find_by_frames(const std::string& hostname);
  bool answers_by_frames(NicId mac);
  void unreached_ask(NicId nic, UnreachedFacts& facts);
  Result<bool> discover(NicId nic, const std::function<bool()>& found);

  Settings settings_;
  std::vector<Board> boards_;
  PeerTable peers_;
  ForkMark mark_;
  bool named_ = false;  // the log prefix says which endpoint

  std::mutex open_mutex_;     // one thread opens at a time
  mutable std::mutex mutex_;  // open_
  std::vector<Endpoint*> open_;
  // The same by slot, owned here. Read without a lock: addresses are looked up in the unexpected handler.
  std::unique_ptr<std::atomic<Endpoint*>[]> slots_;
  std::uint32_t slot_next_ = 0;
};

}  // namespace omx::runtime
