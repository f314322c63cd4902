// SPDX-License-Identifier: BSD-3-Clause
// Many sockets behind one protocol hook: the kernel offers each frame to every packet socket of an interface
// that wants its type, one after the other, so with each endpoint every frame of all endpoints would cost
// more. The sockets of a group (PACKET_FANOUT) share one hook, and a program picks the one.
//
// The program knows members by an index, which the kernel assigns anew when one leaves. So none ever does:
// docs/steering.md, "Among sockets", says how, and why that holds.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "base/fork_guard.h"
#include "base/own_fd.h"
#include "link/hook_directory.h"
#include "link/hook_keeper.h"
#include "link/hook_share.h"

namespace omx::link {

class HookPlace;

struct HookWish {
  RingGeometry geometry;
  // Readies a new socket: its receive buffer, say. Returns 0 or errno.
  std::function<int(int fd)> ready;
};

class HookGroup : public std::enable_shared_from_this<HookGroup> {
 public:
  HookGroup(std::uint32_t ifindex, std::string name) : ifindex_(ifindex), name_(std::move(name)) {}
  HookGroup(const HookGroup&) = delete;
  HookGroup& operator=(const HookGroup&) = delete;
  ~HookGroup() { keeper_.stop(); }

  // A hook of one's own, of those that `most` endpoints of the interface may have; not open when they are
  // taken.
  static OwnFd licence(std::uint32_t ifindex, std::uint32_t most);

  // A place of a group of this user on that interface, found or founded; not held() when there is none to be
  // had in reasonable time. Its socket drops all frames until HookPlace::enter().
  static HookPlace take(std::uint32_t ifindex, const HookWish& wish);

  bool broken() const { return directory().broken.load(std::memory_order_relaxed) != 0; }
  // Frames go to wrong members and it does not end: everybody takes a hook of his own again.
  void give_up() { directory().broken.store(1, std::memory_order_relaxed); }

 private:
  friend class HookPlace;

  static std::shared_ptr<HookGroup> find(std::uint32_t ifindex, unsigned number);
  bool found();
  // `exists`: somebody has the name.
  bool join(bool& exists);
  bool keep();
  HookPlace place_take(const HookWish& wish);
  HookPlace place_adopt(const HookWish& wish);
  HookPlace place_make(const HookWish& wish);
  void repair();
  void classify(std::uint32_t place, int fd);
  std::uint32_t deposited() const;
  std::uint32_t members() const;
  // The kernel's table follows the directory. False: it could not be brought to that in time.
  bool publish(std::uint32_t version);
  bool load();
  std::array<std::uint32_t, 2> board_choose() const;
  void look();

  HookDirectory& directory() const { return *memory_.get(); }
  std::string lock_name(const char* which) const { return name_ + "/" + which; }
  std::string place_name(std::uint32_t place) const { return name_ + "/place/" + std::to_string(place); }

  std::uint32_t ifindex_;
  std::string name_;
  HookShare share_;
  HookMemory memory_;
  HookKeeper keeper_;
};

// The right to one socket of a group. The holder's frames come to it after enter().
class HookPlace {
 public:
  HookPlace() = default;
  HookPlace(std::shared_ptr<HookGroup> group, std::uint32_t number, OwnFd name, OwnFd socket)
      : group_(std::move(group)), number_(number), name_(std::move(name)), socket_(std::move(socket)) {}
  HookPlace(HookPlace&&) = default;
  HookPlace& operator=(HookPlace&&) = default;
  ~HookPlace() { leave(); }

  bool held() const { return group_ != nullptr; }
  int socket() const { return socket_.get(); }
  RingGeometry geometry() const;
  HookGroup& group() const { return *group_; }
  // From now on frames for the endpoint come here. False: they do not; leave.
  bool enter(std::uint8_t endpoint);
  // The socket stays in the group, for whoever comes next. Unmap the ring before.
  void leave();

 private:
  std::shared_ptr<HookGroup> group_;
  std::uint32_t number_ = 0;
  OwnFd name_;
  OwnFd socket_;
  ForkMark mark_;
};

}  // namespace omx::link
