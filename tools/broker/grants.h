// SPDX-License-Identifier: BSD-3-Clause
// The grants of this host: which process has which endpoint of which board. Pure bookkeeping: what the
// kernel's programs read is written by the caller.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "base/own_fd.h"
#include "broker/message.h"
#include "tools/broker/accounts.h"

namespace omx::broker {

// Identifies a client's connection. Numbers are never used again, unlike descriptors.
using ConnectionId = std::uint64_t;
inline constexpr ConnectionId kNoConnection = 0;

// A socket beside the data socket of a grant.
struct BesideSocket {
  SocketKind kind = SocketKind::bulk;
  std::uint64_t cookie = 0;
  std::uint64_t bytes = 0;  // memory that counts as the user's
};

// A grant that lasts.
//
//   add() ------> held <------> orphaned       (its connection is that of an earlier broker: attach())
//                  |               |
//                  | end()         | end()
//                  v               v
//                 kept ----------------> gone  (the socket is closed: forget())
//
// Kept: the grant is revoked, but a process still has its sockets, whose memory counts as its user's.
struct GrantEntry {
  std::uint32_t slot = 0;
  std::uint64_t serial = 0;  // no two grants have the same; set by add()
  std::uint32_t board = 0;
  std::uint8_t endpoint = 0;
  User user;
  pid_t pid = 0;
  std::uint64_t started = 0;                // start time of the process, from /proc/PID/stat
  std::uint64_t cookie = 0;                 // of the data socket
  std::uint64_t bytes = 0;                  // memory of the data socket that counts as the user's
  std::vector<BesideSocket> beside;         // at most one of each kind
  ConnectionId connection = kNoConnection;  // that the grant lasts as long as; none: orphaned
  OwnFd classes;                            // the map that the sockets' filters read
  OwnFd process;                            // pidfd of an orphan's process

  bool belongs_to(uid_t uid, pid_t process_id, std::uint64_t start) const {
    return user.uid == uid && pid == process_id && started == start;
  }
};

// A socket that a process still has after its grant ended.
struct KeptSocket {
  std::uint32_t board = 0;
  uid_t uid = 0;
  std::uint64_t cookie = 0;
  std::uint64_t bytes = 0;
  std::uint32_t endpoints = 0;  // 1 for a data socket, whose endpoint still counts as the user's
  std::uint8_t endpoint = 0;
  bool replaced = false;  // a data socket in whose place another one counts
  OwnFd classes = {};     // the map of a data socket
};

class Grants {
 public:
  explicit Grants(std::uint32_t slots) : used_(slots) {}

  // Returns a free slot, the one that was free for longest; nullopt if there is none.
  std::optional<std::uint32_t> slot_find() const;
  GrantEntry& add(GrantEntry grant);
  // Keeps a slot for a grant of the kernel whose board is not served yet, or gives it back.
  void reserve(std::uint32_t slot, bool reserved);
  GrantEntry* find(std::uint32_t board, std::uint8_t endpoint);
  GrantEntry* of_connection(ConnectionId connection);
  // Ends a grant: its slot and endpoint are free, and its sockets are kept. If another grant replaces it, its
  // data socket counts no more.
  void end(const GrantEntry& grant, bool replaced);
  // Keeps a socket beside a grant that goes on.
  void keep(const GrantEntry& grant, const BesideSocket& socket) {
    kept_.push_back({grant.board, grant.user.uid, socket.cookie, socket.bytes, 0, grant.endpoint});
  }
  // Forgets the kept sockets of a board that are not among the living ones. Returns them.
  std::vector<KeptSocket> forget(std::uint32_t board, const std::vector<std::uint64_t>& living);

  const std::map<std::uint32_t, GrantEntry>& all() const { return grants_; }
  std::map<std::uint32_t, GrantEntry>& all() { return grants_; }
  const std::vector<KeptSocket>& kept() const { return kept_; }
  // Returns whether a data socket of the endpoint is kept in whose place another one counts.
  bool has_replaced(std::uint32_t board, std::uint8_t endpoint) const;
  // Returns whether the user has a grant.
  bool has_user(uid_t uid) const;
  bool open(std::uint32_t board, std::uint8_t endpoint) const {
    return by_endpoint_.contains(key(board, endpoint));
  }

 private:
  static std::uint64_t key(std::uint32_t board, std::uint8_t endpoint) {
    return std::uint64_t{board} << 8 | endpoint;
  }

  std::vector<std::uint64_t> used_;  // by slot: when it was last given back; in use: kInUse
  std::uint64_t ends_ = 0;
  std::uint64_t serials_ = 0;
  std::map<std::uint32_t, GrantEntry> grants_;  // by slot
  std::map<std::uint64_t, std::uint32_t> by_endpoint_;
  std::vector<KeptSocket> kept_;
};

}  // namespace omx::broker
