// SPDX-License-Identifier: BSD-3-Clause
// What the members of a packet fanout group know together, in memory that they share. Written by whoever
// holds the lock that is named with each field; all of it is checked before it is used.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/fork_guard.h"
#include "base/own_fd.h"
#include "link/packet/packet_ring.h"

namespace omx::link {

// What a socket of the group is for. Each kind is a fan-out group of its own, so that a frame comes to one
// socket of each.
enum class FanoutKind : std::uint32_t { frames, wakeups };
inline constexpr std::uint32_t kFanoutKinds = 2;

// A socket of the group. Members are numbered in the order in which their sockets were made.
//
//   begun by its maker        made ready        its turn has come
//   ------------------> making --------> ready ------------------> joined <---+
//                         |                |                          |       | taken: it has a holder,
//      its maker died, or |                | it cannot join           +-------+ who keeps its lock; left:
//      waited too long    v                v                                    it has none
//                      spoiled <-----------+
//
//   begun with the first of its kind        its turn has come
//   --------------------------------> ready -----------------> dropping
//
// No state is left but by these steps. A holder that died has left its member, as its lock is free.
struct MemberRecord {
  // Its maker readies it; it joins in its turn; it has; it never will; it is what drops the frames of nobody.
  enum State : std::uint32_t { making, ready, joined, spoiled, dropping };
  std::atomic<std::uint32_t> state;
  std::atomic<std::uint32_t> kind;
  std::atomic<std::uint32_t> index;  // of a member; 0 is the dropping member
  RingGeometry geometry;             // "join"; of frames
  // The endpoint whose frames go there; -1: nobody's. Who holds the member.
  std::atomic<std::int32_t> owner;
};

struct FanoutDirectory {
  static constexpr std::uint32_t kMagic = 0x4f4d5848;  // "OMXH"
  static constexpr std::uint32_t kVersion = 2;
  static constexpr std::uint32_t kMembers = 511;
  static constexpr std::uint32_t kLocks = 1 + kFanoutKinds;

  std::uint32_t magic;
  std::uint32_t version;
  std::atomic<std::uint32_t> turns[kLocks];  // times that each lock was taken, for who waits
  std::atomic<std::uint32_t> stuck[kLocks];  // the turn + 1 that a process waited for and did not get
  std::atomic<std::uint32_t>
      fanout[kFanoutKinds];           // "join": as getsockopt(PACKET_FANOUT) tells it of members
  std::atomic<std::uint32_t> spares;  // "join": members that have a socket in the queue of spare members
  std::atomic<std::uint32_t> wanted[kFanoutKinds];  // counts changes that the kernel's table has to follow
  std::atomic<std::uint32_t> loaded[kFanoutKinds];  // "load": up to which it does
  std::atomic<std::uint32_t> board[2];  // "load": members + 1 that hear what is for the board; 0: none
  std::atomic<std::uint32_t> broken;    // anybody: frames go wrong for good; all leave
  MemberRecord members[kMembers];
};
static_assert(std::atomic<std::uint32_t>::is_always_lock_free);

// The memory of a directory: a sealed memfd. Its bytes are also what is locked: the kernel frees a lock at
// any exit, and only who has the memory can take one.
class FanoutMemory {
 public:
  FanoutMemory() = default;
  FanoutMemory(const FanoutMemory&) = delete;
  FanoutMemory& operator=(const FanoutMemory&) = delete;
  ~FanoutMemory();

  // Zeroed.
  bool create();
  // Another process's. False when it is not one: reading it could kill us.
  bool adopt(OwnFd fd);
  FanoutDirectory* get() const { return directory_; }
  int descriptor() const { return fd_.get(); }

  // Takes the lock with that number, until what is returned is closed. Not open, with errno (EAGAIN: somebody
  // has it), when it cannot.
  OwnFd lock(std::uint32_t number) const;
  // Whether somebody has it; true where that cannot be told.
  bool locked(std::uint32_t number) const;

 private:
  bool map();

  OwnFd fd_;
  FanoutDirectory* directory_ = nullptr;
  ForkMark mark_;
};

// The locks of a group: "join", "load" of each kind, and one for each member, which its holder keeps.
inline constexpr std::uint32_t kJoinLock = 0;
inline std::uint32_t load_lock(FanoutKind kind) {
  return 1 + static_cast<std::uint32_t>(kind);
}
inline std::uint32_t member_lock(std::uint32_t member) {
  return FanoutDirectory::kLocks + member;
}

// One of the first, to wait for. Who holds it may be stopped, so nobody waits for ever: only while its turns
// go on. After two seconds without, this and all later ones give it up at once, until it is free again.
class FanoutLock {
 public:
  FanoutLock(const FanoutMemory& memory, std::uint32_t number);
  bool held() const { return fd_.open(); }

 private:
  OwnFd fd_;
};

void nap(unsigned ms);

}  // namespace omx::link
