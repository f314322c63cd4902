// SPDX-License-Identifier: BSD-3-Clause
#include "tools/broker/quota.h"

#include <fmt/format.h>

#include <cassert>
#include <utility>

#include "base/text.h"
#include "netdev/open_failure.h"

namespace omx::broker {

namespace {

// One thing that is counted, in the words of messages.
struct Counted {
  std::uint64_t held, more, most, held_by_all, total;
  const char* what;    // "endpoints"
  const char* key;     // the user's limit in the policy
  const char* remedy;  // what the user can do
  bool bytes = false;
};

bool exceeds(std::uint64_t held, std::uint64_t more, std::uint64_t most) {
  return held > most || more > most - held;
}

std::string amount_text(std::uint64_t amount, bool bytes) {
  constexpr std::uint64_t kKiB = 1 << 10, kMiB = 1 << 20;
  if (!bytes) return std::to_string(amount);
  if (amount % kMiB == 0) return fmt::format("{} MiB", amount / kMiB);
  return amount % kKiB == 0 ? fmt::format("{} KiB", amount / kKiB) : fmt::format("{} bytes", amount);
}

// Returns what is said after "holds 3 of 4 endpoints" where more than one is asked for.
std::string more_text(const Counted& c) {
  return c.bytes || c.more != 1 ? fmt::format(" and asks for {} more", amount_text(c.more, c.bytes)) : "";
}

Result<void> check(const Counted& c, const User& user, const std::string& file) {
  const std::string path = shown(file, kPathShown);
  if (c.more && exceeds(c.held, c.more, c.most)) {
    return fail(
        link::kNoResources,
        fmt::format(
            "user {} holds {} of {} {}{}; {}, or the administrator raises it in {} (user {} {} = ...)",
            user_text(user), amount_text(c.held, c.bytes), amount_text(c.most, c.bytes), c.what, more_text(c),
            c.remedy, path, user.name.empty() ? std::to_string(user.uid) : shown(user.name), c.key));
  }
  if (c.more && exceeds(c.held_by_all, c.more, c.total)) {
    return fail(
        link::kNoResources,
        fmt::format(
            "all users of the broker together hold {} of {} {}{}, and user {} holds {} of them; {}, or "
            "the administrator lowers \"{}\" of other users in {}",
            amount_text(c.held_by_all, c.bytes), amount_text(c.total, c.bytes), c.what, more_text(c),
            user_text(user), amount_text(c.held, c.bytes), c.remedy, c.key, path));
  }
  return {};
}

void add(Holding& to, const Holding& more) {
  to.endpoints += more.endpoints;
  to.memory += more.memory;
  to.connections += more.connections;
  to.sockets += more.sockets;
}

void subtract(Holding& from, const Holding& less) {
  assert(less.endpoints <= from.endpoints);
  assert(less.memory <= from.memory);
  assert(less.connections <= from.connections);
  assert(less.sockets <= from.sockets);
  from.endpoints -= less.endpoints;
  from.memory -= less.memory;
  from.connections -= less.connections;
  from.sockets -= less.sockets;
}

}  // namespace

Quota::Quota(const Holding& total, std::string file) : total_(total), file_(std::move(file)) {}

Holding Quota::held(uid_t uid) const {
  const auto found = held_.find(uid);
  return found == held_.end() ? Holding() : found->second;
}

Result<void> Quota::take(const User& user, const Holding& more, const Limits& limits) {
  const Holding own = held(user.uid);
  const Counted all[] = {
      {own.endpoints, more.endpoints, limits.endpoints, all_.endpoints, total_.endpoints, "endpoints",
       "endpoints", "close some"},
      {own.memory, more.memory, limits.memory, all_.memory, total_.memory, "for rings", "memory",
       "close endpoints or make rings smaller (OMX_RING_BYTES)", true},
      {own.connections, more.connections, limits.connections, all_.connections, total_.connections,
       "connections to the broker", "connections", "end some processes"},
      {own.sockets, more.sockets, std::uint64_t{kSocketsEach} * limits.endpoints, all_.sockets,
       total_.sockets, "packet sockets", "endpoints", "close some"},
  };
  for (const Counted& c : all)
    if (auto checked = check(c, user, file_); !checked) return checked;
  hold(user.uid, more);
  return {};
}

void Quota::hold(uid_t uid, const Holding& more) {
  if (more == Holding()) return;
  add(held_[uid], more);
  add(all_, more);
}

void Quota::give(uid_t uid, const Holding& less) {
  const auto found = held_.find(uid);
  if (found == held_.end()) {
    assert(less == Holding());
    return;
  }
  subtract(found->second, less);
  subtract(all_, less);
  if (found->second == Holding()) held_.erase(found);
}

}  // namespace omx::broker
