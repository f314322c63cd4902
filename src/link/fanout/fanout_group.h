// SPDX-License-Identifier: BSD-3-Clause
// Many sockets behind one protocol hook: the kernel offers each frame to every packet socket of an interface
// that wants its type, one after the other, so with each endpoint every frame of all endpoints would cost
// more. The sockets of a group (PACKET_FANOUT) share one hook, and a program picks the one.
//
// The program knows members by an index, which the kernel assigns again when one leaves. So none ever does:
// docs/explanation/fanout-groups.md says how, and why that holds.
#pragma once

#include <cstdint>
#include <memory>

#include "link/fanout/fanout_directory.h"
#include "link/fanout/fanout_share.h"
#include "link/fanout/fanout_work.h"

namespace omx::link {

// A group as one of its processes has it. Members and wake-up sockets keep it.
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
  // Members that have a socket in the queue of spare members.
  std::uint32_t spares() const;
  // Whether no member can be made any more.
  bool full() const { return spares() == FanoutDirectory::kMembers; }
  FanoutWork& work() { return work_; }

  bool broken() const { return directory().broken.load(std::memory_order_relaxed) != 0; }
  // Frames go to wrong members and it does not end, or the interface was removed: everybody takes a hook of
  // his own again.
  void give_up() { directory().broken.store(1, std::memory_order_relaxed); }

 protected:
  explicit FanoutGroup(std::uint32_t ifindex) : ifindex_(ifindex) {}

  std::uint32_t ifindex_;
  FanoutShare share_;
  FanoutMemory memory_;
  FanoutWork work_;
};

}  // namespace omx::link
