// SPDX-License-Identifier: BSD-3-Clause
#include "local/own_regions.h"

#include <cassert>

#include "base/clock.h"
#include "base/store_ahead.h"

namespace omx::local {

namespace {

// Returns a life that no other region of this process has. Other data are unlikely to look like it.
std::uint64_t new_life() {
  static std::atomic<std::uint64_t> next{clock_now() << 20 | 1};
  return next.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace

OwnRegions::~OwnRegions() {
  for (std::size_t i = 0; i < lives_.size() * kLivesAtOnce; i++) end(static_cast<std::uint16_t>(i));
}

std::atomic<std::uint64_t>& OwnRegions::life_of(std::uint16_t region) {
  const std::size_t level = region / kLivesAtOnce;
  while (lives_.size() <= level) lives_.push_back(std::make_unique<Lives>());
  return (*lives_[level])[region % kLivesAtOnce];
}

RegionHead OwnRegions::announce(std::uint16_t region, std::uint8_t generation, std::uint16_t count) {
  std::atomic<std::uint64_t>& life = life_of(region);
  if (life.load(std::memory_order_relaxed) == 0) life.store(new_life(), std::memory_order_release);
  RegionHead head;
  head.region = region;
  head.generation = generation;
  head.count = count;
  head.life = life.load(std::memory_order_relaxed);
  head.life_at = reinterpret_cast<std::uintptr_t>(&life);
  assert(head.life != 0);
  return head;
}

void OwnRegions::end(std::uint16_t region) {
  const std::size_t level = region / kLivesAtOnce;
  if (level >= lives_.size()) return;
  // The application may write to the memory as soon as its send is complete, with plain stores. A reader that
  // finds any of them must not find the life.
  store_ahead((*lives_[level])[region % kLivesAtOnce], 0);
}

}  // namespace omx::local
