// SPDX-License-Identifier: BSD-3-Clause

#include "protocol/state/regions.h"

#include <algorithm>
#include <new>
#include <utility>

#include "protocol/region_limits.h"
#include "protocol/state/request.h"

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

bool Regions::grow_paged() {
  if (pages_.size() + 1 >= kRegionPages) return false;
  auto level = std::unique_ptr<Level>(new (std::nothrow) Level);
  if (!level) return false;
  for (std::uint32_t number = 0; number < kRegionNumbers; number++) {
    Region& region = (*level)[number];
    region.place = static_cast<std::uint16_t>(number);
    region.page = static_cast<std::uint16_t>(pages_.size() + 1);
    free_paged_.push_back(region);
  }
  pages_.push_back(std::move(level));
  return true;
}

bool Regions::acquire_paged(Request& r) {
  if (free_paged_.empty() && !grow_paged()) return false;
  Region& region = *free_paged_.pop_front();
  region.generation++;
  region.owner = &r;
  region.served = {};
  used_paged_++;
  r.region = static_cast<std::uint8_t>(region.place);
  r.region_page = region.page;
  r.region_generation = region.generation;
  return true;
}

bool Regions::acquire(Request& r, bool paged) {
  if (paged && used_ + std::min(kRegionsReserved, most_ / 2) >= most_) return acquire_paged(r);
  if (used_ >= most_ || (free_.empty() && !grow())) return false;
  Region& region = *free_.pop_front();
  const auto number = static_cast<std::uint8_t>(region.place);
  do {
    region.generation = next_generation_[number]++;
  } while (find(number, region.generation));  // the region's own owner is not set yet
  region.owner = &r;
  region.served = {};
  used_++;
  r.region = number;
  r.region_page = 0;
  r.region_generation = region.generation;
  return true;
}

Region* Regions::find(std::uint32_t number, std::uint8_t generation) {
  const std::uint32_t page = number / kRegionNumbers;
  if (page > 0) {
    if (page > pages_.size()) return nullptr;
    Region& region = (*pages_[page - 1])[number % kRegionNumbers];
    return region.owner && region.generation == generation ? &region : nullptr;
  }
  for (const auto& level : levels_) {
    Region& region = (*level)[number];
    if (region.owner && region.generation == generation) return &region;
  }
  return nullptr;
}

Region* Regions::of(const Request& r) {
  Region* const region = find(r.region | std::uint32_t{r.region_page} << 8, r.region_generation);
  return region && region->owner == &r ? region : nullptr;
}

void Regions::release(Region& region) {
  region.owner = nullptr;
  if (region.page > 0) {
    used_paged_--;
    free_paged_.push_back(region);
    return;
  }
  used_--;
  free_.push_back(region);
}

}  // namespace omx::protocol
