// SPDX-License-Identifier: BSD-3-Clause
// What the members of a hook group know together, in memory that they share. Written by whoever holds the
// lock that is named with each field; all of it is checked before it is used.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/own_fd.h"
#include "link/packet_ring.h"

namespace omx::link {

// A socket of the group. Places are numbered in the order in which their sockets were made.
struct HookPlaceRecord {
  enum State : std::uint32_t { unknown, member, spoiled };
  // "join". A socket is in the depot before it joins, so what it became is seen by whoever comes next.
  std::atomic<std::uint32_t> state;
  std::atomic<std::uint32_t> index;  // of a member; 0 is the sink
  RingGeometry geometry;             // "join"
  // The endpoint whose frames go there; -1: nobody's. Who holds the place.
  std::atomic<std::int32_t> owner;
};

struct HookDirectory {
  static constexpr std::uint32_t kMagic = 0x4f4d5848;  // "OMXH"
  static constexpr std::uint32_t kVersion = 1;
  static constexpr std::uint32_t kPlaces = 255;  // and the sink: what the kernel gives a group

  std::uint32_t magic;
  std::uint32_t version;
  std::uint32_t fanout;                  // as getsockopt(PACKET_FANOUT) tells it of members
  std::atomic<std::uint32_t> turns;      // locks taken, for who waits
  std::atomic<std::uint32_t> deposited;  // "join": places that have a socket in the depot
  std::atomic<std::uint32_t> wanted;     // counts changes that the kernel's table has to follow
  std::atomic<std::uint32_t> loaded;     // "load": up to which it does
  std::atomic<std::uint32_t> board[2];   // "load": places + 1 that hear what is for the board; 0: none
  std::atomic<std::uint32_t> broken;     // anybody: frames go wrong for good; all leave
  HookPlaceRecord places[kPlaces];
};
static_assert(std::atomic<std::uint32_t>::is_always_lock_free);

// The memory of a directory: a sealed memfd.
class HookMemory {
 public:
  HookMemory() = default;
  HookMemory(const HookMemory&) = delete;
  HookMemory& operator=(const HookMemory&) = delete;
  ~HookMemory();

  // Zeroed.
  bool create();
  // Another process's. False when it is not one: reading it could kill us.
  bool adopt(OwnFd fd);
  HookDirectory* get() const { return directory_; }
  int descriptor() const { return fd_.get(); }

 private:
  bool map();

  OwnFd fd_;
  HookDirectory* directory_ = nullptr;
};

}  // namespace omx::link
