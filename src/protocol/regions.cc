// SPDX-License-Identifier: BSD-3-Clause
#include "protocol/regions.h"

#include <algorithm>
#include <new>
#include <utility>

#include "protocol/request.h"

namespace omx::protocol {

Regions::Regions(std::uint32_t most) : most_(std::clamp(most, kRegionNumbers, kRegionsMost)) {
  next_generation_.fill(kFirstGeneration);
  levels_.reserve(kRegionDepth);
  grow();
}

bool Regions::grow() {
  auto level = std::unique_ptr<Level>(new (std::nothrow) Level);
  if (!level) return false;
  const auto first = static_cast<std::uint32_t>(levels_.size()) * kRegionNumbers;
  for (std::uint32_t number = 0; number < kRegionNumbers; number++) {
    Region& region = (*level)[number];
    region.place = static_cast<std::uint16_t>(first + number);
    free_.push_back(region);
  }
  levels_.push_back(std::move(level));
  return true;
}

bool Regions::acquire(Request& r) {
  if (used_ >= most_ || (free_.empty() && !grow())) return false;
  Region& region = *free_.pop_front();
  const auto number = static_cast<std::uint8_t>(region.place);
  do {
    region.generation = next_generation_[number]++;
  } while (find(number, region.generation));  // its own owner is not set yet
  region.owner = &r;
  region.served = {};
  used_++;
  r.region = number;
  r.region_generation = region.generation;
  return true;
}

Region* Regions::find(std::uint32_t number, std::uint8_t generation) {
  if (number >= kRegionNumbers) return nullptr;
  for (const auto& level : levels_) {
    Region& region = (*level)[number];
    if (region.owner && region.generation == generation) return &region;
  }
  return nullptr;
}

Region* Regions::of(const Request& r) {
  Region* const region = find(r.region, r.region_generation);
  return region && region->owner == &r ? region : nullptr;
}

void Regions::release(Region& region) {
  region.owner = nullptr;
  used_--;
  free_.push_back(region);
}

}  // namespace omx::protocol
