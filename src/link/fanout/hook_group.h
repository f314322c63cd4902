// SPDX-License-Identifier: BSD-3-Clause
// Many sockets behind one protocol hook: the kernel offers each frame to every packet socket of an interface
// that wants its type, one after the other, so with each endpoint every frame of all endpoints would cost
// more. The sockets of a group (PACKET_FANOUT) share one hook, and a program picks the one.
//
// The program knows members by an index, which the kernel assigns anew when one leaves. So none ever does:
// docs/explanation/fanout-groups.md says how, and why that holds.
#pragma once

#include <array>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <string>

#include "base/fork_guard.h"
#include "base/own_fd.h"
#include "link/fanout/hook_directory.h"
#include "link/fanout/hook_keeper.h"
#include "link/fanout/hook_share.h"

namespace omx::link {

class HookBell;
class HookPlace;

struct HookWish {
  HookKind kind = HookKind::frames;
  RingGeometry geometry = {};  // of frames
  // Readies a new socket: its receive buffer, say. Returns 0 or errno.
  std::function<int(int fd)> ready;
};

class HookGroup : public std::enable_shared_from_this<HookGroup> {
 public:
  HookGroup(std::uint32_t ifindex, std::string name) : ifindex_(ifindex), name_(std::move(name)) {}
  HookGroup(const HookGroup&) = delete;
  HookGroup& operator=(const HookGroup&) = delete;
  ~HookGroup();

  std::uint32_t ifindex() const { return ifindex_; }
  // A hook of one's own, of those that `most` endpoints of the interface may have; not open when they are
  // taken.
  static OwnFd licence(std::uint32_t ifindex, std::uint32_t most);
  // By which processes of this user meet.
  static std::string name(std::uint32_t ifindex, unsigned number);

  // A place of a group of this user on that interface, found or founded; not held() when there is none to be
  // had in reasonable time. `witness`: a packet socket of ours, whose network is meant. The place's socket
  // drops all frames until HookPlace::enter().
  static HookPlace take(std::uint32_t ifindex, int witness, const HookWish& wish);

  bool broken() const { return directory().broken.load(std::memory_order_relaxed) != 0; }
  // Frames go to wrong members and it does not end, or the interface was removed: everybody takes a hook of
  // his own again.
  void give_up() { directory().broken.store(1, std::memory_order_relaxed); }

 private:
  friend class HookBell;
  friend class HookPlace;

  // hook_group.cc: who belongs to it.
  static std::shared_ptr<HookGroup> find(std::uint32_t ifindex, unsigned number, int witness);
  static std::shared_ptr<HookGroup> join_or_found(std::uint32_t ifindex, unsigned number, int witness);
  bool found();
  // `exists`: somebody has the name.
  bool join(int witness, bool& exists);
  bool keep();

  // hook_places.cc
  HookPlace place_take(const HookWish& wish);
  HookPlace place_adopt(const HookWish& wish);
  HookPlace place_begin(const HookWish& wish);
  bool place_ready(const HookPlace& place, const HookWish& wish);
  bool place_join(const HookPlace& place);
  // In their turn. Returns the first place that is still being made, or how many there are.
  std::uint32_t settle();
  bool let_join(std::uint32_t place);
  bool sink_make(HookKind kind);
  std::uint32_t deposited() const;
  std::uint32_t members(HookKind kind) const;
  // Whether no place can be made any more.
  bool full() const { return deposited() == HookDirectory::kPlaces; }

  // hook_table.cc: the kernel's table follows the directory. False: it could not be brought to that in time.
  // `member` is any of that kind.
  bool publish(HookKind kind, int member, std::uint32_t version);
  bool load(HookKind kind, int member);
  std::array<std::uint32_t, 2> board_choose() const;
  void look();

  // hook_disband.cc
  bool alone() const;

  // hook_bell.cc
  void bell_begin(HookBell& bell);
  void bell_cancel(HookBell& bell);
  void bells_make();

  HookDirectory& directory() const { return *memory_.get(); }
  HookPlaceRecord& record(std::uint32_t place) const { return directory().places[place]; }

  std::uint32_t ifindex_;
  std::string name_;
  HookShare share_;
  HookMemory memory_;
  std::mutex bells_mutex_;
  std::condition_variable bells_done_;
  std::list<HookBell*> bells_;
  HookBell* bell_in_work_ = nullptr;
  HookKeeper keeper_;
  ForkMark mark_;
};

// The right to one socket of a group. The holder's frames come to it after enter().
class HookPlace {
 public:
  HookPlace() = default;
  HookPlace(std::shared_ptr<HookGroup> group, std::uint32_t number, OwnFd lock, OwnFd socket)
      : group_(std::move(group)), number_(number), lock_(std::move(lock)), socket_(std::move(socket)) {}
  HookPlace(HookPlace&&) = default;
  HookPlace& operator=(HookPlace&&) = default;
  ~HookPlace() { leave(); }

  bool held() const { return group_ != nullptr; }
  int socket() const { return socket_.get(); }
  std::uint32_t number() const { return number_; }
  RingGeometry geometry() const;
  // It was somebody else's: its ring may begin anywhere, and hold anything.
  bool used() const { return used_; }
  HookGroup& group() const { return *group_; }
  // From now on frames for the endpoint come here. False: they do not; leave.
  bool enter(std::uint8_t endpoint);
  // The socket stays in the group, for whoever comes next. Unmap the ring before.
  void leave();

 private:
  friend class HookGroup;

  std::shared_ptr<HookGroup> group_;
  std::uint32_t number_ = 0;
  OwnFd lock_;
  OwnFd socket_;
  bool used_ = false;
  ForkMark mark_;
};

}  // namespace omx::link
