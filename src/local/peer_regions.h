// SPDX-License-Identifier: BSD-3-Clause
// The memory of a peer's large messages, which we read in one copy.
#pragma once

#include <sys/uio.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "protocol/types.h"

namespace omx::local {

// Not thread-safe.
class PeerRegions {
 public:
  PeerRegions() = default;
  explicit PeerRegions(int pid) : pid_(pid) {}

  // Takes a record by which the peer announces a region. A malformed one is ignored.
  void learn(std::span<const std::byte> record);
  // Reads [offset, offset + length) of the region with that number and generation into the first `length`
  // bytes of `to`. Returns false if the region was not announced or has ended, or the system forbids it. Part
  // of `to` may have been written then.
  bool read(std::uint8_t region, std::uint8_t generation, std::uint64_t offset,
            std::span<const protocol::Segment> to, std::uint64_t length) const;

 private:
  struct Region {
    std::uint8_t generation = 0;
    std::uint64_t life = 0, life_at = 0;  // as RegionHead
    std::vector<iovec> memory;
  };

  // Returns the place of the number and generation. Its low 8 bits are the number. -1: none was announced.
  std::ptrdiff_t find(std::uint8_t region, std::uint8_t generation) const;

  int pid_ = 0;
  std::vector<std::unique_ptr<Region>> regions_;  // by place
};

}  // namespace omx::local
