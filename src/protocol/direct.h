// SPDX-License-Identifier: BSD-3-Clause
// One copy inside a host: the data of a large message come straight from the sender's memory, if whoever
// carries the frames can read it.
#pragma once

#include <cstdint>
#include <span>

#include "protocol/types.h"

namespace omx::protocol {

class DirectReader {
 public:
  // Reads [offset, offset + length) of a sender's region into the first `length` bytes of `to`. False: not
  // possible, and the data are pulled instead; part of `to` may have been written.
  virtual bool read(NicId nic, std::uint8_t endpoint, std::uint8_t region, std::uint8_t generation,
                    std::uint64_t offset, std::span<const Segment> to, std::uint64_t length) = 0;

 protected:
  ~DirectReader() = default;
};

}  // namespace omx::protocol
