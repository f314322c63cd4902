// SPDX-License-Identifier: BSD-3-Clause
#include "tools/broker/accounts.h"

#include <grp.h>
#include <pwd.h>

#include <cerrno>

#include "base/text.h"

namespace omx::broker {

namespace {

// An entry with its texts fits into this. A group's entry names all its members.
constexpr std::size_t kEntryMost = 1 << 24;
// Linux has NGROUPS_MAX groups of a process.
constexpr int kGroupsMost = 65536;

// Calls a function of the getpwnam_r family with a buffer that is large enough.
template <class Entry, class Get>
bool entry_get(Entry& entry, std::vector<char>& buffer, const Get& get) {
  for (std::size_t size = 1 << 12; size <= kEntryMost; size *= 4) {
    buffer.resize(size);
    Entry* found = nullptr;
    int error = 0;
    do error = get(&entry, buffer.data(), buffer.size(), &found);
    while (error == EINTR);
    if (error != ERANGE) return found != nullptr;
  }
  return false;
}

std::optional<uid_t> uid_of(const std::string& name) {
  passwd entry{};
  std::vector<char> buffer;
  const auto get = [&](auto... to) { return ::getpwnam_r(name.c_str(), to...); };
  return entry_get(entry, buffer, get) ? std::optional(entry.pw_uid) : std::nullopt;
}

std::optional<gid_t> gid_of(const std::string& name) {
  group entry{};
  std::vector<char> buffer;
  const auto get = [&](auto... to) { return ::getgrnam_r(name.c_str(), to...); };
  return entry_get(entry, buffer, get) ? std::optional(entry.gr_gid) : std::nullopt;
}

std::vector<gid_t> groups_of(const char* name, gid_t primary) {
  std::vector<gid_t> gids(64);
  for (;;) {
    int count = static_cast<int>(gids.size());
    if (::getgrouplist(name, primary, gids.data(), &count) >= 0) {
      gids.resize(static_cast<std::size_t>(count));
      return gids;
    }
    if (gids.size() >= kGroupsMost) return gids;
    gids.resize(gids.size() * 4);
  }
}

User user(uid_t uid) {
  passwd entry{};
  std::vector<char> buffer;
  const auto get = [&](auto... to) { return ::getpwuid_r(uid, to...); };
  if (!entry_get(entry, buffer, get)) return {uid, "", {}};
  return {uid, entry.pw_name, groups_of(entry.pw_name, entry.pw_gid)};
}

}  // namespace

std::string user_text(const User& user) {
  return user.name.empty() ? std::to_string(user.uid)
                           : shown(user.name) + " (" + std::to_string(user.uid) + ")";
}

Accounts accounts_of_host() {
  return {uid_of, gid_of, user};
}

}  // namespace omx::broker
