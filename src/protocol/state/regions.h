// SPDX-License-Identifier: BSD-3-Clause
// The regions that large sends offer until they are received. On the wire a region has a number and a
// generation of 8 bits each (docs/spec/wire.md 4.4). The original had one region per number, 256 in all, and
// a 257th large message held back every message behind it.
// Here the generation tells several regions of one number apart, so that number and generation name 16,384
// regions. Peers that know pages (docs/reference/wire.md 19) read 16 more bits. Page 0 holds those 16,384
// regions, and each other page has one region of each number. Only memory limits how many are in use.
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

inline constexpr std::uint32_t kRegionPages = 65536;  // including page 0
// Regions of page 0 that are left to peers without pages.
inline constexpr std::uint32_t kRegionsReserved = kRegionsMost / 8;
inline constexpr std::uint8_t kFirstGeneration = 23;  // docs/spec/wire.md 4.4

struct Region {
  // A request that was answered, to recognize repetitions of it (pull_serve.cc).
  struct Served {
    TimeNs at = 0;
    std::uint32_t handle = 0, frame_index = 0, block_length = 0;
  };

  Request* owner = nullptr;
  std::uint16_t place = 0;  // index in page 0; the low 8 bits are the number, on every page
  std::uint16_t page = 0;
  std::uint8_t generation = 0;
  std::array<Served, 8> served{};
  ListHook free;
};

class Regions {
 public:
  explicit Regions(std::uint32_t most);

  // Gives the request a region and notes it there. Returns false when all are in use or there is no memory.
  // `paged`: the receiver knows pages.
  bool acquire(Request& r, bool paged = false);
  // Returns the region in use with this number and generation, or nullptr. The bits of `number` above the low
  // 8 are the page.
  Region* find(std::uint32_t number, std::uint8_t generation);
  Region* of(const Request& r);
  void release(Region& region);
  // Calls `visit` with the owner of each region in use.
  template <class Visit>
  void each_owner(Visit visit) const {
    for (const auto* all : {&levels_, &pages_})
      for (const auto& level : *all)
        for (const Region& region : *level)
          if (region.owner) visit(*region.owner);
  }

  std::uint32_t used() const { return used_ + used_paged_; }
  // Returns whether page 0 has a free region. Peers that know no pages wait for one.
  bool available() const { return used_ < most_; }

 private:
  using Level = std::array<Region, kRegionNumbers>;

  bool grow();
  bool grow_paged();
  bool acquire_paged(Request& r);

  const std::uint32_t most_;
  std::uint32_t used_ = 0, used_paged_ = 0;
  std::vector<std::unique_ptr<Level>> levels_;  // page 0; each level has one region of each number
  std::vector<std::unique_ptr<Level>> pages_;   // pages from 1 on
  // The region unused longest is first, so that late PULLs rarely meet a new owner.
  List<Region, &Region::free> free_, free_paged_;
  std::array<std::uint8_t, kRegionNumbers> next_generation_;
};

}  // namespace omx::protocol
