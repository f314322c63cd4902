// SPDX-License-Identifier: BSD-3-Clause
#include "link/fanout/fanout_member.h"

#include <cassert>

#include "link/fanout/fanout_calls.h"
#include "link/fanout/fanout_table.h"

namespace omx::link {

RingGeometry FanoutMember::geometry() const {
  assert(held());
  return group_->record(number_).geometry;
}

bool FanoutMember::enter(std::uint8_t endpoint) {
  assert(held());
  assert(number_ < FanoutDirectory::kMembers);
  FanoutDirectory& d = group_->directory();
  MemberRecord& mine = group_->record(number_);
  const std::uint32_t kind = mine.kind.load(std::memory_order_relaxed);
  if (kind >= kFanoutKinds) return false;
  for (std::uint32_t i = 0; i < group_->spares(); i++) {
    std::int32_t before = endpoint;
    if (group_->record(i).kind.load(std::memory_order_relaxed) == kind)
      group_->record(i).owner.compare_exchange_strong(before, -1, std::memory_order_relaxed);
  }
  mine.owner.store(endpoint, std::memory_order_relaxed);
  return table_publish(*group_, static_cast<FanoutKind>(kind), socket_.get(),
                       d.wanted[kind].fetch_add(1, std::memory_order_acq_rel) + 1);
}

void FanoutMember::leave() {
  if (!group_) return;
  if (!mark_.forked()) {
    drop_all(socket_.get());
    group_->record(number_).owner.store(-1, std::memory_order_relaxed);
  }
  socket_.reset();
  lock_.reset();
  group_.reset();
}

}  // namespace omx::link
