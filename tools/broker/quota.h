// SPDX-License-Identifier: BSD-3-Clause
// Counts what each user holds of the broker: endpoints, memory of rings, connections. Does no I/O. One thread
// owns a quota.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <string>

#include "base/expected.h"
#include "tools/broker/accounts.h"
#include "tools/broker/policy.h"

namespace omx::broker {

struct Holding {
  std::uint32_t endpoints = 0;
  std::uint64_t memory = 0;  // bytes of rings
  std::uint32_t connections = 0;
  std::uint32_t sockets = 0;  // packet sockets, each of which costs every frame of its board some time

  bool operator==(const Holding&) const = default;
};

// An endpoint has three packet sockets, and for a moment the former three, when the MTU grows.
inline constexpr std::uint32_t kSocketsEach = 6;

class Quota {
 public:
  // `total` is what all users together may hold. `file` is the policy's, for messages.
  Quota(const Holding& total, std::string file);

  // Adds all of `more` to what the user holds, or nothing. The error is the sentence why not.
  Result<void> take(const User& user, const Holding& more, const Limits& limits);
  // Adds what the user holds already, whatever the limits are now.
  void hold(uid_t uid, const Holding& more);
  // Takes off what the user held. The user must hold it.
  void give(uid_t uid, const Holding& less);

  Holding held(uid_t uid) const;
  const Holding& held_by_all() const { return all_; }
  std::size_t users() const { return held_.size(); }
  // Changes what all users may hold. What they hold beyond it stays theirs.
  void total_set(const Holding& total) { total_ = total; }

 private:
  Holding total_, all_;
  std::string file_;
  std::map<uid_t, Holding> held_;  // without users who hold nothing, so that it does not grow
};

}  // namespace omx::broker
