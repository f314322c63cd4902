// SPDX-License-Identifier: BSD-3-Clause
#include "tools/broker/grants.h"

#include <algorithm>
#include <cassert>
#include <iterator>
#include <limits>
#include <utility>

namespace omx::broker {

namespace {
constexpr std::uint64_t kInUse = std::numeric_limits<std::uint64_t>::max();
constexpr std::uint64_t kReserved = kInUse - 1;
}  // namespace

std::optional<std::uint32_t> Grants::slot_find() const {
  const auto oldest = std::ranges::min_element(used_);
  if (oldest == used_.end() || *oldest >= kReserved) return std::nullopt;
  return static_cast<std::uint32_t>(oldest - used_.begin());
}

void Grants::reserve(std::uint32_t slot, bool reserved) {
  assert(used_[slot] != kInUse);
  if (reserved)
    used_[slot] = kReserved;
  else if (used_[slot] == kReserved)
    used_[slot] = ++ends_;
}

GrantEntry& Grants::add(GrantEntry grant) {
  assert(grant.slot < used_.size());
  assert(used_[grant.slot] != kInUse);
  assert(!open(grant.board, grant.endpoint));
  const std::uint32_t slot = grant.slot;
  used_[slot] = kInUse;
  by_endpoint_[key(grant.board, grant.endpoint)] = slot;
  grant.serial = ++serials_;
  return grants_[slot] = std::move(grant);
}

GrantEntry* Grants::find(std::uint32_t board, std::uint8_t endpoint) {
  const auto slot = by_endpoint_.find(key(board, endpoint));
  return slot == by_endpoint_.end() ? nullptr : &grants_.at(slot->second);
}

GrantEntry* Grants::of_connection(ConnectionId connection) {
  if (connection == kNoConnection) return nullptr;
  const auto found =
      std::ranges::find_if(grants_, [=](const auto& grant) { return grant.second.connection == connection; });
  return found == grants_.end() ? nullptr : &found->second;
}

void Grants::end(const GrantEntry& grant, bool replaced) {
  const std::uint32_t slot = grant.slot;
  assert(used_[slot] == kInUse);
  used_[slot] = ++ends_;
  by_endpoint_.erase(key(grant.board, grant.endpoint));
  kept_.push_back({grant.board, grant.user.uid, grant.cookie, replaced ? 0 : grant.bytes, replaced ? 0U : 1U,
                   grant.endpoint, replaced, std::move(grants_.at(slot).classes)});
  for (const BesideSocket& socket : grant.beside) keep(grant, socket);
  grants_.erase(slot);
}

bool Grants::has_replaced(std::uint32_t board, std::uint8_t endpoint) const {
  return std::ranges::any_of(kept_, [=](const KeptSocket& socket) {
    return socket.replaced && socket.board == board && socket.endpoint == endpoint;
  });
}

bool Grants::has_user(uid_t uid) const {
  return std::ranges::any_of(grants_, [=](const auto& grant) { return grant.second.user.uid == uid; });
}

std::vector<KeptSocket> Grants::forget(std::uint32_t board, const std::vector<std::uint64_t>& living) {
  const auto gone = std::stable_partition(kept_.begin(), kept_.end(), [&](const KeptSocket& socket) {
    return socket.board != board || std::ranges::find(living, socket.cookie) != living.end();
  });
  std::vector<KeptSocket> forgotten(std::make_move_iterator(gone), std::make_move_iterator(kept_.end()));
  kept_.erase(gone, kept_.end());
  return forgotten;
}

}  // namespace omx::broker
