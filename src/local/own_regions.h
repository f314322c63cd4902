// SPDX-License-Identifier: BSD-3-Clause
// The memory of our large messages while peers may read it.
//
// Each region has a word, its life, which is 0 when the region has ended. A peer reads the data and then the
// life. If the life is the announced one, the data are the message's. Peers know the addresses of the words,
// so these stay where they are.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "local/region_record.h"

namespace omx::local {

// One thread at a time begins and ends regions; peers read the words at any time.
class OwnRegions {
 public:
  OwnRegions() = default;
  OwnRegions(const OwnRegions&) = delete;
  OwnRegions& operator=(const OwnRegions&) = delete;
  ~OwnRegions();

  // Begins the region, or goes on with it, and returns the head of the record that announces it.
  RegionHead announce(std::uint16_t region, std::uint8_t generation, std::uint16_t count);
  // Ends the region. A peer that reads its memory from now on, or does so just now, finds that out.
  void end(std::uint16_t region);

 private:
  static constexpr std::size_t kLivesAtOnce = 256;
  using Lives = std::array<std::atomic<std::uint64_t>, kLivesAtOnce>;

  std::atomic<std::uint64_t>& life_of(std::uint16_t region);

  std::vector<std::unique_ptr<Lives>> lives_;
};

}  // namespace omx::local
