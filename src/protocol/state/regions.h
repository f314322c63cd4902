// SPDX-License-Identifier: BSD-3-Clause
// The regions that large sends offer until they are received. On the wire a region has a number and a
// generation of 8 bits each (docs/spec/wire.md 4.4); the original had one region per number and 256 in all,
// and a 257th large message held back whatever was sent behind it. Here the generation tells several of one
// number apart, so that the two together name 16,384. Peers that know pages (docs/reference/wire.md 19) read
// 16 bits more: page 0 are those, each other page has one region of each number, and only memory limits how
// many are in use.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/list.h"
#include "protocol/region_limits.h"
#include "protocol/types.h"

namespace omx::protocol {

struct Request;

inline constexpr std::uint32_t kRegionPages = 65536;  // with page 0
// So many are left to peers that know no pages.
inline constexpr std::uint32_t kRegionsReserved = kRegionsMost / 8;
inline constexpr std::uint8_t kFirstGeneration = 23;  // docs/spec/wire.md 4.4

struct Region {
  // What the owner was asked for last, to tell repetitions of an answered request (pull_serve.cc).
  struct Served {
    TimeNs at = 0;
    std::uint32_t handle = 0, frame_index = 0, block_length = 0;
  };

  Request* owner = nullptr;
  std::uint16_t place = 0;  // among all of page 0; its low 8 bits are the number, on every page
  std::uint16_t page = 0;
  std::uint8_t generation = 0;
  std::array<Served, 8> served{};
  ListHook free;
};

class Regions {
 public:
  explicit Regions(std::uint32_t most);

  // Gives the request a region, and notes there which. False: all are in use, or there is no memory.
  // `paged`: its receiver knows pages.
  bool acquire(Request& r, bool paged = false);
  // The one in use that has these; nullptr: none. The number with its page above the low 8 bits.
  Region* find(std::uint32_t number, std::uint8_t generation);
  Region* of(const Request& r);
  void release(Region& region);
  // Calls back for the owner of each one in use.
  template <class Visit>
  void each_owner(Visit visit) const {
    for (const auto* all : {&levels_, &pages_})
      for (const auto& level : *all)
        for (const Region& region : *level)
          if (region.owner) visit(*region.owner);
  }

  std::uint32_t used() const { return used_ + used_paged_; }
  // Of page 0, where peers that know no pages wait for one.
  bool available() const { return used_ < most_; }

 private:
  using Level = std::array<Region, kRegionNumbers>;

  bool grow();
  bool grow_paged();
  bool acquire_paged(Request& r);

  const std::uint32_t most_;
  std::uint32_t used_ = 0, used_paged_ = 0;
  std::vector<std::unique_ptr<Level>> levels_;  // of page 0; a number's regions: one of each
  std::vector<std::unique_ptr<Level>> pages_;   // from page 1 on
  // The longest unused first, so that late PULLs rarely meet a new owner.
  List<Region, &Region::free> free_, free_paged_;
  std::array<std::uint8_t, kRegionNumbers> next_generation_;
};

}  // namespace omx::protocol
