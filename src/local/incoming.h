// SPDX-License-Identifier: BSD-3-Clause
// The rings that peers of the host write for this endpoint.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/own_fd.h"
#include "local/arrivals.h"
#include "local/hello.h"
#include "local/hub_options.h"
#include "local/memory.h"
#include "local/peer_regions.h"
#include "local/refusals.h"
#include "local/ring.h"

namespace omx::local {

// Not thread-safe.
class Incoming {
 public:
  Incoming(const HubOptions& options, Refusals& refusals) : options_(options), refusals_(refusals) {}

  // Takes the ring of a peer that has sent its hello. Disconnects a peer that is not trusted.
  void adopt(OwnFd connection, const Hello& hello, OwnFd memory);
  // Returns whether a ring has something.
  bool pending() const {
    for (const auto& path : paths_)
      if (path->ring.pending()) return true;
    return false;
  }
  // Hands over frames, of each ring at most `budget` records. Returns the number of frames.
  std::size_t receive(Arrivals& arrivals, std::size_t budget);
  // Returns the memory that the peer has announced. nullptr: there is no such peer, or its memory cannot be
  // read.
  const PeerRegions* readable(const Place& peer) const;

  // Returns whether the descriptor is the connection of a peer.
  bool owns(int fd) const;
  // Notes that the peer at that connection is gone. What it left behind is still read.
  void gone(int fd);
  // Reports the peers that are gone and whose rings have been read.
  void end_gone(Arrivals& arrivals);

  // Makes all peers wake us when they write. Returns false when there is something already.
  bool fall_asleep();
  void wake_up();
  // Does the sleeper's part after another thread has heard connections while it sleeps: what was to wake it
  // may have been taken from it, and new peers do not know of it. Reads what they wrote before.
  void hear_for_sleeper(Arrivals& arrivals);

 private:
  struct Path {
    Place from;
    bool readable = false;  // whether we may read its memory
    bool gone = false;
    std::uint64_t ends = ~std::uint64_t{0};  // position up to which the ring is read once the peer is gone
    OwnFd connection;
    SharedMemory memory;
    RingReader ring;
    PeerRegions regions;
  };

  Path* from(const Place& peer) const;
  bool fill(Path& path, const OwnFd& connection, const Hello& hello, OwnFd memory);
  bool memory_readable(int pid, std::uint64_t proof_at) const;
  std::size_t receive_from(Path& path, Arrivals& arrivals, std::size_t budget);

  const HubOptions& options_;
  Refusals& refusals_;
  std::vector<std::unique_ptr<Path>> paths_;
  bool asleep_ = false;  // a thread sleeps, or is about to
};

}  // namespace omx::local
