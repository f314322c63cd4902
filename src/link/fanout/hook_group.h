// SPDX-License-Identifier: BSD-3-Clause
// Many sockets behind one protocol hook: the kernel offers each frame to every packet socket of an interface
// that wants its type, one after the other, so with each endpoint every frame of all endpoints would cost
// more. The sockets of a group (PACKET_FANOUT) share one hook, and a program picks the one.
//
// The program knows members by an index, which the kernel assigns anew when one leaves. So none ever does:
// docs/explanation/fanout-groups.md says how, and why that holds.
#pragma once

#include <cstdint>
#include <memory>

#include "link/fanout/hook_directory.h"
#include "link/fanout/hook_share.h"
#include "link/fanout/hook_work.h"

namespace omx::link {

// A group as one of its processes has it. Places and wake-up sockets keep it.
class HookGroup : public std::enable_shared_from_this<HookGroup> {
 public:
  HookGroup(const HookGroup&) = delete;
  HookGroup& operator=(const HookGroup&) = delete;
  virtual ~HookGroup() = default;

  std::uint32_t ifindex() const { return ifindex_; }
  const HookShare& share() const { return share_; }
  const HookMemory& memory() const { return memory_; }
  HookDirectory& directory() const { return *memory_.get(); }
  HookPlaceRecord& record(std::uint32_t place) const { return directory().places[place]; }
  // Places that have a socket in the depot.
  std::uint32_t deposited() const;
  // Whether no place can be made any more.
  bool full() const { return deposited() == HookDirectory::kPlaces; }
  HookWork& work() { return work_; }

  bool broken() const { return directory().broken.load(std::memory_order_relaxed) != 0; }
  // Frames go to wrong members and it does not end, or the interface was removed: everybody takes a hook of
  // his own again.
  void give_up() { directory().broken.store(1, std::memory_order_relaxed); }

 protected:
  explicit HookGroup(std::uint32_t ifindex) : ifindex_(ifindex) {}

  std::uint32_t ifindex_;
  HookShare share_;
  HookMemory memory_;
  HookWork work_;
};

}  // namespace omx::link
