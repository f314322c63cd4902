// SPDX-License-Identifier: BSD-3-Clause
// Users and groups of this host.
#pragma once

#include <sys/types.h>

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace omx::broker {

// A user who asks for raw frames.
struct User {
  uid_t uid = 0;
  std::string name;         // empty: this host has no such account, as for users of a container
  std::vector<gid_t> gids;  // the primary group, too
  // Of a process: those of the user's account. `gids` are those that the process has.
  std::vector<gid_t> account_gids = {};
};

// Returns "alice (1001)" or "1001", as messages name a user.
std::string user_text(const User& user);

// The questions that the broker asks about accounts. Tests make up their own.
struct Accounts {
  std::function<std::optional<uid_t>(const std::string& name)> uid_of;
  std::function<std::optional<gid_t>(const std::string& name)> gid_of;
  std::function<User(uid_t)> user;
};

// Asks the databases of this host (nsswitch.conf). An answer from the network may take its time.
Accounts accounts_of_host();

}  // namespace omx::broker
