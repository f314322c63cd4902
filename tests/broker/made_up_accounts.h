// SPDX-License-Identifier: BSD-3-Clause
// A host with a few users and groups.
#pragma once

#include <map>
#include <string>

#include "tools/broker/accounts.h"

namespace omx::broker {

inline constexpr uid_t kAlice = 1001, kBob = 1002, kCarol = 1003, kStranger = 65534;
inline constexpr gid_t kOpenMx = 990, kHpc = 2000, kStudents = 2001;

inline Accounts made_up_accounts() {
  const std::map<std::string, std::uint32_t> users = {
      {"root", 0}, {"alice", kAlice}, {"bob", kBob}, {"carol", kCarol}};
  const std::map<std::string, std::uint32_t> groups = {
      {"root", 0}, {"open-mx", kOpenMx}, {"hpc", kHpc}, {"students", kStudents}};
  const std::map<uid_t, std::vector<gid_t>> members = {
      {0, {0}}, {kAlice, {100, kOpenMx}}, {kBob, {100, kHpc, kStudents}}, {kCarol, {100}}};
  const auto find = [](const auto& all, const std::string& name) {
    const auto found = all.find(name);
    return found == all.end() ? std::nullopt : std::optional<std::uint32_t>(found->second);
  };
  return {[=](const std::string& name) { return find(users, name); },
          [=](const std::string& name) { return find(groups, name); },
          [=](uid_t uid) -> User {
            for (const auto& [name, id] : users)
              if (id == uid) return {uid, name, members.at(uid)};
            return {uid, "", {}};
          }};
}

}  // namespace omx::broker
