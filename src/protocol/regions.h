// SPDX-License-Identifier: BSD-3-Clause
// The regions that large sends offer until they are received. On the wire a region has a number and a
// generation of 8 bits each (wire.md 4.4); the original had one region per number and 256 in all, and a 257th
// large message held back whatever was sent behind it. Here the generation tells several of one number apart,
// so that the two together name as many as a program that sends long before it receives may need.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/list.h"
#include "protocol/types.h"

namespace omx::protocol {

struct Request;

inline constexpr std::uint32_t kRegionNumbers = 256;
inline constexpr std::uint32_t kRegionDepth = 64;  // of one number; the rest of the generations is a distance
inline constexpr std::uint32_t kRegionsMost = kRegionNumbers * kRegionDepth;
inline constexpr std::uint8_t kFirstGeneration = 23;  // wire.md 4.4

struct Region {
  // What the owner was asked for last, to tell repetitions of an answered request (pull_owner.cc).
  struct Served {
    TimeNs at = 0;
    std::uint32_t handle = 0, frame_index = 0, block_length = 0;
  };

  Request* owner = nullptr;
  std::uint16_t place = 0;  // among all; its low 8 bits are the number
  std::uint8_t generation = 0;
  std::array<Served, 8> served{};
  ListHook free;
};

class Regions {
 public:
  explicit Regions(std::uint32_t most);

  // Gives the request a region, and notes there which. False: all are in use, or there is no memory.
  bool acquire(Request& r);
  // The one in use that has these; nullptr: none.
  Region* find(std::uint32_t number, std::uint8_t generation);
  Region* of(const Request& r);
  void release(Region& region);
  // Calls back for the owner of each one in use.
  template <class Visit>
  void each_owner(Visit visit) const {
    for (const auto& level : levels_)
      for (const Region& region : *level)
        if (region.owner) visit(*region.owner);
  }

  std::uint32_t used() const { return used_; }
  bool available() const { return used_ < most_; }

 private:
  using Level = std::array<Region, kRegionNumbers>;

  bool grow();

  const std::uint32_t most_;
  std::uint32_t used_ = 0;
  std::vector<std::unique_ptr<Level>> levels_;  // a number's regions: one of each
  // The longest unused first, so that late PULLs rarely meet a new owner.
  List<Region, &Region::free> free_;
  std::array<std::uint8_t, kRegionNumbers> next_generation_;
};

}  // namespace omx::protocol
