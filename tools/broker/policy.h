// SPDX-License-Identifier: BSD-3-Clause
// The broker's policy: which users may have raw frames, on which boards, and how much each may hold.
// policy_file.h reads a policy from a file. A policy is plain data: threads may share one that no thread
// changes.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/expected.h"
#include "broker/message.h"
#include "netdev/interface.h"
#include "netdev/interfaces_choose.h"
#include "tools/broker/accounts.h"

namespace omx::broker {

inline constexpr const char* kPolicyFile = "/etc/open-mx/broker.conf";
inline constexpr const char* kDefaultGroup = "open-mx";

enum class Mode : std::uint8_t {
  confined,  // own frames only: the kernel examines what leaves and what arrives
  trusted    // sockets on the NIC itself, which equals CAP_NET_RAW on it
};

std::string_view mode_name(Mode mode);

// The most that one user may hold at the same time, over all boards.
struct Limits {
  std::uint32_t endpoints = 64;
  std::uint64_t memory = std::uint64_t{4} << 30;  // bytes of rings and buffers
  std::uint32_t connections = 128;                // to the broker
  std::uint64_t rate = 0;                         // bits per second that may leave; 0 = no limit

  bool operator==(const Limits&) const = default;
};

// Limits of some users. What is not set here comes from elsewhere.
struct LimitChanges {
  std::optional<std::uint32_t> endpoints;
  std::optional<std::uint64_t> memory;
  std::optional<std::uint32_t> connections;
  std::optional<std::uint64_t> rate;
};

// A user or group as the file names it. Without an id the host has no such account.
struct Account {
  std::string name;
  std::optional<std::uint32_t> id;
};

struct Members {
  bool everyone = false;
  std::vector<Account> users;
  std::vector<Account> groups;
};

// Rules for one board. What is not set here comes from the rules for all boards.
struct BoardChanges {
  std::optional<Mode> mode;
  std::optional<bool> passthru;
  std::optional<Members> members;
};

struct SocketRules {
  std::string path = kDefaultPath;
  std::optional<mode_t> mode;  // none: as socket_mode_of() says
  Account group = {kDefaultGroup, {}};
};

struct Policy {
  std::string file = kPolicyFile;  // for messages
  Members members = {false, {}, {{kDefaultGroup, {}}}};
  std::string boards;  // words of OMX_INTERFACES; empty: what Open-MX uses itself
  Mode mode = Mode::confined;
  bool passthru = false;  // a macvlan has the NIC's own address, and takes all frames of the NIC
  std::map<std::string, BoardChanges, std::less<>> board_changes;
  Limits limits;
  std::map<uid_t, LimitChanges> user_changes;
  std::map<gid_t, LimitChanges> group_changes;
  std::optional<std::uint64_t> memory_total;  // of all users; none: a quarter of the host's memory
  std::uint32_t request_timeout_ms = 5000;    // a connection without a complete request is closed
  SocketRules socket;

  // Returns how a user may use an interface, or the sentence why not. `board` is one of boards_choose().
  Result<Mode> may(const User& user, const link::Choice& board) const;
  // Returns the same for a board that is served in a mode, which may be another than the policy's. The
  // stricter one decides.
  Result<Mode> may(const User& user, const link::Choice& board, Mode served) const;
  // Returns the user's own limits where there are some. Otherwise returns the most that one of the user's
  // groups has, and for all else what everyone has.
  Limits limits_of(const User& user) const;
  // Returns which of these interfaces are boards of the broker, and why the others are none.
  Result<std::vector<link::Choice>> boards_choose(const std::vector<link::Interface>& all) const;
  Mode mode_of(std::string_view board) const;
  bool passthru_of(std::string_view board) const;
  // Returns the permissions of the socket: for its group alone if no other user may have raw frames.
  mode_t socket_mode_of() const;
};

}  // namespace omx::broker
