// SPDX-License-Identifier: BSD-3-Clause
// Intra-node peers, whose frames stay in memory. Frames may be larger than those of the cable. The data of a
// large message may come straight from the sender's memory, if the transport can read it.
#pragma once

#include <cstdint>
#include <span>

#include "protocol/types.h"

namespace omx::protocol {

// The path to a peer.
struct IntraNodePath {
  std::uint16_t frame = 0;           // the largest frame, Ethernet header included; 0: not of this host
  std::uint8_t pull_frames = 32;     // frames that one request may ask for
  std::uint32_t rndv_threshold = 0;  // instead of Config::rndv_threshold
};

class DirectReader {
 public:
  virtual IntraNodePath path(NicId nic, std::uint8_t endpoint) const = 0;
  // Reads [offset, offset + length) of a sender's region into the first `length` bytes of `to`. Returns false
  // when that is not possible. The data are then pulled; part of `to` may have been written.
  virtual bool read(NicId nic, std::uint8_t endpoint, std::uint8_t region, std::uint8_t generation,
                    std::uint64_t offset, std::span<const Segment> to, std::uint64_t length) = 0;
  // Returns whether the sender's process is likely to have a processor at this moment, and would not have to
  // be woken.
  virtual bool awake(NicId, std::uint8_t) const { return false; }
  // Notes that our region at that place is over and that its memory may be used again. A read that runs now
  // or later must fail.
  virtual void region_ended(std::uint16_t) {}
  // Returns whether frames wait for an intra-node peer to read them. None of them is lost, so another copy
  // would tell nothing.
  virtual bool unread(NicId, std::uint8_t) const { return false; }
  // Wakes an intra-node peer that has frames to read and has not read them for a long time.
  virtual void wake_reader(NicId, std::uint8_t) {}

 protected:
  ~DirectReader() = default;
};

}  // namespace omx::protocol
