// SPDX-License-Identifier: BSD-3-Clause
#include "tools/broker/policy.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "netdev/open_failure.h"

namespace omx::broker {

namespace {

// Sentences with the longest names still fit into 512 bytes.
constexpr std::size_t kFileShown = 80;
constexpr mode_t kGroupOnly = 0660, kAllUsers = 0666;

bool named(const std::vector<Account>& accounts, std::uint32_t id) {
  return std::any_of(accounts.begin(), accounts.end(), [id](const Account& a) { return a.id == id; });
}

// Returns whether the file names the user, or one of the user's groups. `users = *` names no one.
bool named(const Members& members, const User& user) {
  return named(members.users, user.uid) || std::any_of(user.gids.begin(), user.gids.end(),
                                                       [&](gid_t gid) { return named(members.groups, gid); });
}

// Returns the first names of a list, because a sentence has a limited length.
std::string names_text(std::string_view kind, const std::vector<Account>& accounts) {
  constexpr std::size_t kMost = 2;
  std::string text;
  for (std::size_t i = 0; i < std::min(accounts.size(), kMost); i++)
    text += fmt::format("{}{} {}", i ? ", " : "", kind, shown(accounts[i].name, 32));
  return text + (accounts.size() > kMost ? ", ..." : "");
}

std::string members_text(const Members& members) {
  const std::string users = names_text("user", members.users), groups = names_text("group", members.groups);
  if (users.empty() && groups.empty()) return "no user";
  return users + (users.empty() || groups.empty() ? "" : ", ") + groups;
}

// Returns what an administrator does for a user who is not named.
std::string remedy(const Members& members) {
  if (members.groups.empty()) return "the administrator adds the user to \"users\" there";
  const Account& group = members.groups.front();
  const std::string name = shown(group.name, 32);
  return fmt::format(
      "the administrator adds the user to the group ({}usermod -aG {} NAME), and the user logs in again",
      group.id ? "" : "groupadd --system " + name + " && ", name);
}

// Raises a limit to what one of the user's groups has. The first group of several only sets it.
template <class T>
void raise(std::optional<T>& most, const std::optional<T>& value, bool zero_is_none) {
  if (!value) return;
  const auto more = [&] {
    return zero_is_none ? *most != 0 && (*value == 0 || *value > *most) : *value > *most;
  };
  if (!most || more()) most = value;
}

void apply(Limits& limits, const LimitChanges& changes) {
  limits.endpoints = changes.endpoints.value_or(limits.endpoints);
  limits.memory = changes.memory.value_or(limits.memory);
  limits.connections = changes.connections.value_or(limits.connections);
  limits.rate = changes.rate.value_or(limits.rate);
}

// Returns what a board's own rules say, or nothing where it has none.
const BoardChanges* board_find(const Policy& policy, std::string_view board) {
  const auto found = policy.board_changes.find(board);
  return found == policy.board_changes.end() ? nullptr : &found->second;
}

}  // namespace

std::string_view mode_name(Mode mode) {
  return mode == Mode::trusted ? "trusted" : "confined";
}

Mode Policy::mode_of(std::string_view board) const {
  const BoardChanges* const own = board_find(*this, board);
  return own && own->mode ? *own->mode : mode;
}

bool Policy::passthru_of(std::string_view board) const {
  const BoardChanges* const own = board_find(*this, board);
  return own && own->passthru ? *own->passthru : passthru;
}

Result<Mode> Policy::may(const User& user, const link::Choice& board) const {
  return may(user, board, mode_of(board.interface.name));
}

Result<Mode> Policy::may(const User& user, const link::Choice& board, Mode served) const {
  const std::string& name = board.interface.name;
  const std::string path = shown(file, kFileShown);
  const auto refused = [&](const std::string& why) {
    return fail(link::kNoPermission, fmt::format("user {} may have no raw frames on {}: {}", user_text(user),
                                                 shown(name, 32), why));
  };
  if (!board.taken) {
    return refused(fmt::format("it is no board of the broker ({})", shown(board.reason, 200)));
  }
  const BoardChanges* const own = board_find(*this, name);
  const Members& allowed = own && own->members ? *own->members : members;
  const bool trusted = served == Mode::trusted || mode_of(name) == Mode::trusted;
  const bool is_named = named(allowed, user);
  if (!is_named && !allowed.everyone) {
    return refused(fmt::format("{} allows {}; {}", path, members_text(allowed), remedy(allowed)));
  }
  if (!is_named && trusted) {
    return refused(fmt::format(
        "the board is in trusted mode, so {} must name the user or a group, and \"users = *\" does "
        "not; {}",
        path, remedy(allowed)));
  }
  if (limits_of(user).endpoints == 0) {
    return refused(
        fmt::format("{} gives the user no endpoints; the administrator raises \"endpoints\" there", path));
  }
  return served;
}

Limits Policy::limits_of(const User& user) const {
  LimitChanges groups;
  // A process can drop groups, but not the limits that come with them.
  std::vector<gid_t> gids = user.gids;
  gids.insert(gids.end(), user.account_gids.begin(), user.account_gids.end());
  for (const gid_t gid : gids) {
    const auto found = group_changes.find(gid);
    if (found == group_changes.end()) continue;
    raise(groups.endpoints, found->second.endpoints, false);
    raise(groups.memory, found->second.memory, false);
    raise(groups.connections, found->second.connections, false);
    raise(groups.rate, found->second.rate, true);
  }
  Limits all = limits;
  apply(all, groups);
  if (const auto own = user_changes.find(user.uid); own != user_changes.end()) apply(all, own->second);
  return all;
}

Result<std::vector<link::Choice>> Policy::boards_choose(const std::vector<link::Interface>& all) const {
  return link::interfaces_choose(all, boards,
                                 fmt::format("\"boards\" in {}", shown(file, kFileShown)).c_str());
}

mode_t Policy::socket_mode_of() const {
  if (socket.mode) return *socket.mode;
  const auto group_only = [&](const Members& m) {
    return !m.everyone && m.users.empty() &&
           std::all_of(m.groups.begin(), m.groups.end(),
                       [&](const Account& g) { return g.id == socket.group.id; });
  };
  const bool boards_too = std::all_of(board_changes.begin(), board_changes.end(), [&](const auto& b) {
    return !b.second.members || group_only(*b.second.members);
  });
  return group_only(members) && boards_too ? kGroupOnly : kAllUsers;
}

}  // namespace omx::broker
