// SPDX-License-Identifier: BSD-3-Clause
#include "libfabric/memory_regions.h"

#include <algorithm>
#include <cassert>

namespace omx::fabric {

bool MemoryRegions::add(MemoryRegion& region, std::uint64_t key) {
  const std::lock_guard guard(mutex_);
  region.key = key;
  return by_key_.emplace(key, &region).second;
}

std::uint64_t MemoryRegions::key_draw() {
  const std::lock_guard guard(mutex_);
  while (by_key_.contains(next_key_)) next_key_++;
  return next_key_++;
}

void MemoryRegions::remove(MemoryRegion& region) {
  const std::lock_guard guard(mutex_);
  by_key_.erase(region.key);
}

MemoryRegion* MemoryRegions::hold(std::uint64_t key, std::uint64_t address, std::uint64_t bytes,
                                  std::uint64_t access) {
  const std::lock_guard guard(mutex_);
  const auto found = by_key_.find(key);
  if (found == by_key_.end()) return nullptr;
  MemoryRegion& r = *found->second;
  if ((r.access & access) != access || address < r.first || address - r.first > r.length ||
      bytes > r.length - (address - r.first))
    return nullptr;
  r.users++;
  return &r;
}

void MemoryRegions::release(MemoryRegion& region) {
  const std::lock_guard guard(mutex_);
  assert(region.users > 0);
  region.users--;
}

bool MemoryRegions::in_use(const MemoryRegion& region) {
  const std::lock_guard guard(mutex_);
  return region.users > 0;
}

void region_pieces(const MemoryRegion& region, std::uint64_t address, std::uint64_t bytes,
                   std::vector<protocol::Segment>& out) {
  assert(address >= region.first);
  std::uint64_t skip = address - region.first;
  for (const iovec& piece : region.pieces) {
    if (bytes == 0) return;
    if (skip >= piece.iov_len) {
      skip -= piece.iov_len;
      continue;
    }
    const std::uint64_t some = std::min<std::uint64_t>(piece.iov_len - skip, bytes);
    out.push_back({static_cast<std::byte*>(piece.iov_base) + skip, static_cast<std::uint32_t>(some)});
    bytes -= some;
    skip = 0;
  }
}

}  // namespace omx::fabric
