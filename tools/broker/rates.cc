// SPDX-License-Identifier: BSD-3-Clause
#include "tools/broker/rates.h"

#include <algorithm>

namespace omx::broker {

namespace {

constexpr std::uint64_t kBurstNs = 10'000'000;

std::uint64_t ns_per_kib(std::uint64_t rate) {
  return rate == 0 ? 0 : 8ULL * 1024 * 1'000'000'000 / rate;
}

}  // namespace

// Returns the user's number. Gives a user the first number that no other user has.
std::uint32_t Rates::number_of(uid_t uid) {
  if (const auto known = numbers_.find(uid); known != numbers_.end()) return known->second;
  for (std::uint32_t number = 1; number < kCrowd; number++) {
    const bool taken =
        std::ranges::any_of(numbers_, [=](const auto& other) { return other.second == number; });
    if (!taken) return numbers_[uid] = number;
  }
  return kCrowd;
}

std::uint32_t Rates::set(uid_t uid, std::uint64_t rate) {
  if (rate == 0 && !numbers_.contains(uid)) return 0;
  const std::uint32_t number = number_of(uid);
  if (number == kCrowd) rate = crowd_rate_ = crowd_rate_ == 0 ? rate : std::min(rate, crowd_rate_);
  UserRate limit;
  user_rate_read(maps_, number, limit);
  limit.ns_per_kib = ns_per_kib(rate);
  limit.burst_ns = kBurstNs;
  user_rate_write(maps_, number, limit);
  return number;
}

}  // namespace omx::broker
