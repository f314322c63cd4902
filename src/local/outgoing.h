// SPDX-License-Identifier: BSD-3-Clause
// The rings that this endpoint writes, one for each peer of the host.
#pragma once

#include <cstddef>
#include <deque>
#include <memory>
#include <span>
#include <vector>

#include "base/own_fd.h"
#include "local/counters.h"
#include "local/descriptor_set.h"
#include "local/hub_options.h"
#include "local/memory.h"
#include "local/refusals.h"
#include "local/ring.h"

namespace omx::local {

// Not thread-safe.
class Outgoing {
 public:
  // A ring and the connection by which its memory was passed. What a full ring does not take waits here.
  struct Path {
    struct Waiting {
      Kind kind;
      std::vector<std::byte> bytes;
    };
    Place to;
    OwnFd connection;
    SharedMemory memory;
    RingWriter ring;
    std::deque<Waiting> waiting;
    std::size_t waiting_bytes = 0;
    bool touched = false;  // since the last flush
  };

  Outgoing(const HubOptions& options, DescriptorSet& descriptors, Refusals& refusals, HubCounters& counters)
      : options_(options), descriptors_(descriptors), refusals_(refusals), counters_(counters) {}

  // Returns the path to a peer, which the first call makes. nullptr, with errno: it cannot be made.
  Path* to(const Place& peer) { return last_ && last_->to == peer ? last_ : find(peer); }
  // Writes a record of at least `least` bytes, padded with zeros.
  void put(Path& path, Kind kind, std::span<const iovec> pieces, std::size_t least);
  // Writes a frame for the peer of the last path, and wakes that peer if it sleeps. Returns false if the path
  // is another one or has no room.
  bool send_now(const Place& peer, std::span<const std::byte> frame) {
    if (!last_ || !(last_->to == peer) || !last_->waiting.empty()) return false;
    if (!last_->ring.put(Kind::frame, frame)) return false;
    if (last_->ring.must_wake()) wake(*last_);
    return true;
  }
  // Wakes the peers that sleep.
  void flush();
  // Tries again what waits for room.
  void drain();
  // Returns whether records wait for room in a ring. No event tells when there is room.
  bool backlog() const { return backlog_; }
  // Returns whether nothing fitted at the last try.
  bool stuck() const { return stuck_; }
  // Returns whether the peer has yet to read some of what was written for it.
  bool unread(const Place& peer) const;
  // Wakes a peer even if it does not seem to sleep.
  void wake_reader(const Place& peer);
  // Returns whether there is a path to the peer, and the peer does not seem to sleep.
  bool awake(const Place& peer) const;

  // Notes that no path could be made for lack of descriptors or memory. The frame is sent again until the
  // peer is forgotten.
  void unreached_add(const Place& peer, int error);
  void unreached_forget(const Place& peer);
  const std::vector<Place>& unreached() const { return unreached_; }

  // Returns whether the descriptor is the connection of a path.
  bool owns(int fd) const;
  // Ends the path with that connection, whose peer is gone.
  void end(int fd);

 private:
  // Returns the path to a peer, or nullptr if none was made.
  Path* known(const Place& peer) const;
  Path* find(const Place& peer);
  Path* open(const Place& peer);
  bool drain(Path& path);
  void wake(Path& path);

  const HubOptions& options_;
  DescriptorSet& descriptors_;
  Refusals& refusals_;
  HubCounters& counters_;
  std::vector<std::unique_ptr<Path>> paths_;
  Path* last_ = nullptr;  // the path that was asked for last
  bool touched_ = false;
  bool backlog_ = false, stuck_ = false;
  std::vector<Place> unreached_;
};

}  // namespace omx::local
