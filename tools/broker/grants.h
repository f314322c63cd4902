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
#include "tools/broker/accounts.h"

namespace omx::broker {

// A grant that lasts.
//
//   add() ------> held <------> orphaned       (its connection is that of an earlier broker: attach())
//                  |               |
//                  | end()         | end()
//                  v               v
//                 kept ----------------> gone  (the socket is closed: forget())
//
// Kept: the grant is revoked, but a process still has the socket, whose memory counts as its user's.
struct GrantEntry {
  std::uint32_t slot = 0;
  std::uint32_t board = 0;
  std::uint8_t endpoint = 0;
  User user;
  pid_t pid = 0;
  std::uint64_t started = 0;  // start time of the process, from /proc/PID/stat
  std::uint64_t cookie = 0;   // of the data socket
  std::uint64_t bytes = 0;    // memory that counts as the user's
  int connection = -1;        // that the grant lasts as long as; -1: orphaned
  OwnFd classes;              // the map that the sockets' filters read; not open: orphaned
  OwnFd process;              // pidfd of an orphan's process
};

// The sockets of a grant that ended while a process still has them.
struct KeptSocket {
  std::uint32_t board = 0;
  uid_t uid = 0;
  std::uint64_t cookie = 0;
  std::uint64_t bytes = 0;
};

class Grants {
 public:
  explicit Grants(std::uint32_t slots) : used_(slots) {}

  // Returns a free slot, the one that was free for longest; nullopt if there is none.
  std::optional<std::uint32_t> slot_find() const;
  GrantEntry& add(GrantEntry grant);
  GrantEntry* find(std::uint32_t board, std::uint8_t endpoint);
  GrantEntry* of_connection(int connection);
  // Ends a grant: its slot and endpoint are free, and its sockets count as kept.
  void end(const GrantEntry& grant);
  // Forgets the kept sockets of a board that are not among the living ones. Returns them.
  std::vector<KeptSocket> forget(std::uint32_t board, const std::vector<std::uint64_t>& living);

  const std::map<std::uint32_t, GrantEntry>& all() const { return grants_; }
  std::map<std::uint32_t, GrantEntry>& all() { return grants_; }
  const std::vector<KeptSocket>& kept() const { return kept_; }
  bool open(std::uint32_t board, std::uint8_t endpoint) const {
    return by_endpoint_.contains(key(board, endpoint));
  }

 private:
  static std::uint64_t key(std::uint32_t board, std::uint8_t endpoint) {
    return std::uint64_t{board} << 8 | endpoint;
  }

  std::vector<std::uint64_t> used_;  // by slot: when it was last given back; in use: kInUse
  std::uint64_t ends_ = 0;
  std::map<std::uint32_t, GrantEntry> grants_;  // by slot
  std::map<std::uint64_t, std::uint32_t> by_endpoint_;
  std::vector<KeptSocket> kept_;
};

}  // namespace omx::broker
