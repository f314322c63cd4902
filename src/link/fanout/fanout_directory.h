// SPDX-License-Identifier: BSD-3-Clause
// The directory of a packet fanout group: memory that the processes of its members share. Only the holder of
// the lock that is named with each field writes the field. Readers check all of it before they use it.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/fork_guard.h"
#include "base/own_fd.h"
#include "link/packet/packet_ring.h"

namespace omx::link {

// The purpose of a socket of the group. Each kind is a kernel fanout group of its own, so that a frame comes
// to one socket of each kind.
enum class FanoutKind : std::uint32_t { frames, wakeups };
inline constexpr std::uint32_t kFanoutKinds = 2;

// A socket of the group. Members are numbered in the order in which their sockets were made.
//
//   begun by its maker        made ready        its turn has come
//   ------------------> making --------> ready ------------------> joined <---+
//                         |                |                          |       | taken: it has a holder,
//      its maker died, or |                | it cannot join           +-------+ that keeps its lock; left:
//      waited too long    v                v                                    it has none
//                      spoiled <-----------+
//
//   begun with the first of its kind        its turn has come
//   --------------------------------> ready -----------------> dropping
//
// No state is left but by these steps. A holder that died has left its member, as its lock is free.
struct MemberRecord {
  // making: its maker prepares the socket. ready: it waits for its turn to join. joined: it has joined.
  // spoiled: it never will. dropping: it is the dropping member.
  enum State : std::uint32_t { making, ready, joined, spoiled, dropping };
  std::atomic<std::uint32_t> state;
  std::atomic<std::uint32_t> kind;
  std::atomic<std::uint32_t> index;  // of a member; 0 is the dropping member
  RingGeometry geometry;             // "join"; only for FanoutKind::frames
  // Written by the member's holder: the endpoint whose frames go to this member, or -1 for none.
  std::atomic<std::int32_t> owner;
};

struct FanoutDirectory {
  static constexpr std::uint32_t kMagic = 0x4f4d5848;  // "OMXH"
  static constexpr std::uint32_t kVersion = 2;
  static constexpr std::uint32_t kMembers = 511;
  static constexpr std::uint32_t kLocks = 1 + kFanoutKinds;

  std::uint32_t magic;
  std::uint32_t version;
  std::atomic<std::uint32_t> turns[kLocks];  // times that each lock was taken, for waiters
  std::atomic<std::uint32_t> stuck[kLocks];  // the turn + 1 that a process waited for and did not get
  std::atomic<std::uint32_t>
      fanout[kFanoutKinds];           // "join": as getsockopt(PACKET_FANOUT) gives it for members
  std::atomic<std::uint32_t> spares;  // "join": members with a socket in the queue of spare members
  std::atomic<std::uint32_t> wanted[kFanoutKinds];  // counts changes that the kernel's table must follow
  std::atomic<std::uint32_t> loaded[kFanoutKinds];  // "load": the last of those changes in the table
  std::atomic<std::uint32_t> board[2];  // "load": members + 1 that get the board's frames; 0: none
  std::atomic<std::uint32_t> broken;    // any process: frames keep going wrong; all leave
  MemberRecord members[kMembers];
};
static_assert(std::atomic<std::uint32_t>::is_always_lock_free);

// The memory of a directory is a sealed memfd. Locks are taken on its bytes. The kernel frees a lock at any
// exit, and only a process that has the memory can take one.
class FanoutMemory {
 public:
  FanoutMemory() = default;
  FanoutMemory(const FanoutMemory&) = delete;
  FanoutMemory& operator=(const FanoutMemory&) = delete;
  ~FanoutMemory();

  // Creates a zeroed directory.
  bool create();
  // Takes over the memory of another process. Returns false when it is not a directory, because reading
  // other memory could kill this process.
  bool adopt(OwnFd fd);
  FanoutDirectory* get() const { return directory_; }
  int descriptor() const { return fd_.get(); }

  // Takes the lock with that number and holds it until the returned descriptor is closed. When that fails,
  // the descriptor is not open, and errno is set. EAGAIN means that another process has the lock.
  OwnFd lock(std::uint32_t number) const;
  // Returns whether a process holds the lock, or true where that cannot be told.
  bool locked(std::uint32_t number) const;

 private:
  bool map();

  OwnFd fd_;
  FanoutDirectory* directory_ = nullptr;
  ForkMark mark_;
};

// The locks of a group: "join", "load" of each kind, and one for each member, which the member's holder
// keeps.
inline constexpr std::uint32_t kJoinLock = 0;
inline std::uint32_t load_lock(FanoutKind kind) {
  return 1 + static_cast<std::uint32_t>(kind);
}
inline std::uint32_t member_lock(std::uint32_t member) {
  return FanoutDirectory::kLocks + member;
}

// A "join" or "load" lock, which the constructor waits for. Its holder may be stopped, so the wait lasts only
// while other processes get their turns. After two seconds without a turn, this process and all later ones
// give up at once, until the lock is free again.
class FanoutLock {
 public:
  FanoutLock(const FanoutMemory& memory, std::uint32_t number);
  bool held() const { return fd_.open(); }

 private:
  OwnFd fd_;
};

void nap(unsigned ms);

}  // namespace omx::link
