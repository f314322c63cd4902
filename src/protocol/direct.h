// SPDX-License-Identifier: BSD-3-Clause
// Partners inside the host, whose frames stay in memory: larger ones than the cable's, and the data of a
// large message straight from the sender's memory, if whoever carries the frames can read it.
#pragma once

#include <cstdint>
#include <span>

#include "protocol/types.h"

namespace omx::protocol {

// The way to a partner.
struct NearPath {
  std::uint32_t frame = 0;           // the largest, Ethernet header included; 0: not of this host
  std::uint8_t pull_frames = 32;     // that one request may ask for
  std::uint32_t rndv_threshold = 0;  // instead of Config::rndv_threshold
};

class DirectReader {
 public:
  virtual NearPath path(NicId nic, std::uint8_t endpoint) const = 0;
  // Reads [offset, offset + length) of a sender's region into the first `length` bytes of `to`. False: not
  // possible, and the data are pulled instead; part of `to` may have been written.
  virtual bool read(NicId nic, std::uint8_t endpoint, std::uint8_t region, std::uint8_t generation,
                    std::uint64_t offset, std::span<const Segment> to, std::uint64_t length) = 0;
  // The region of ours at that place is over, and its memory may be used for something else: whoever reads it
  // from now on, or does so just now, must find that out.
  virtual void region_ended(std::uint16_t) {}
  // Frames to a near partner wait for it to read them, where none is lost: another copy would tell nothing.
  virtual bool unread(NicId, std::uint8_t) const { return false; }

 protected:
  ~DirectReader() = default;
};

}  // namespace omx::protocol
