// SPDX-License-Identifier: BSD-3-Clause
// A packet fanout group: many sockets behind one protocol hook. The kernel offers each frame to every packet
// socket of an interface that wants its type, one after the other. Each further endpoint would thus make
// every frame of all endpoints cost more. The sockets of a group (PACKET_FANOUT) share one hook, and a
// program picks the socket for a frame.
//
// The program knows members by an index, which the kernel assigns again when a member leaves. So no member
// ever leaves: docs/explanation/fanout-groups.md says how, and why that holds.
#pragma once

#include <cstdint>
#include <memory>

#include "link/fanout/fanout_directory.h"
#include "link/fanout/fanout_share.h"
#include "link/fanout/fanout_work.h"

namespace omx::link {

// A group as one of its processes has it. Members and wake-up sockets keep it alive.
class FanoutGroup : public std::enable_shared_from_this<FanoutGroup> {
 public:
  FanoutGroup(const FanoutGroup&) = delete;
  FanoutGroup& operator=(const FanoutGroup&) = delete;
  virtual ~FanoutGroup() = default;

  std::uint32_t ifindex() const { return ifindex_; }
  const FanoutShare& share() const { return share_; }
  const FanoutMemory& memory() const { return memory_; }
  FanoutDirectory& directory() const { return *memory_.get(); }
  MemberRecord& record(std::uint32_t member) const { return directory().members[member]; }
  // Returns the number of members that have a socket in the queue of spare members.
  std::uint32_t spares() const;
  // Returns whether no more members can be made.
  bool full() const { return spares() == FanoutDirectory::kMembers; }
  FanoutWork& work() { return work_; }

  bool broken() const { return directory().broken.load(std::memory_order_relaxed) != 0; }
  // Makes every member leave and take a hook of its own again. Frames keep going to wrong members, or the
  // interface was removed.
  void give_up() { directory().broken.store(1, std::memory_order_relaxed); }

 protected:
  explicit FanoutGroup(std::uint32_t ifindex) : ifindex_(ifindex) {}

  std::uint32_t ifindex_;
  FanoutShare share_;
  FanoutMemory memory_;
  FanoutWork work_;
};

}  // namespace omx::link
