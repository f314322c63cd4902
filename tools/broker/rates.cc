// SPDX-License-Identifier: BSD-3-Clause
#include "tools/broker/rates.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "netdev/open_failure.h"

namespace omx::broker {

namespace {

constexpr std::uint64_t kBurstNs = 10'000'000;

std::uint64_t ns_per_kib(std::uint64_t rate) {
  return rate == 0 ? 0 : 8ULL * 1024 * 1'000'000'000 / rate;
}

}  // namespace

// Returns the first number that no user has, or kUsers.
std::uint32_t Rates::number_free() const {
  std::vector<bool> used(kUsers);
  for (const auto& [uid, number] : numbers_) used[number] = true;
  // Number 0 stands for no limit.
  return static_cast<std::uint32_t>(std::find(used.begin() + 1, used.end(), false) - used.begin());
}

void Rates::adopt(uid_t uid, std::uint32_t number) {
  const bool used = std::ranges::any_of(numbers_, [=](const auto& user) { return user.second == number; });
  if (number > 0 && number < kUsers && !used) numbers_.try_emplace(uid, number);
}

void Rates::give(uid_t uid) {
  numbers_.erase(uid);
}

Result<std::uint32_t> Rates::set(uid_t uid, std::uint64_t rate) {
  auto known = numbers_.find(uid);
  if (known == numbers_.end()) {
    if (rate == 0) return 0;
    const std::uint32_t number = number_free();
    if (number == kUsers)
      return fail(
          link::kNoResources,
          fmt::format("{} users have a rate, and the broker can hold no more back; let some users end "
                      "their programs, or give fewer a rate",
                      kUsers - 1));
    known = numbers_.emplace(uid, number).first;
  }
  UserRate limit;
  // Frames that were sent before still count, so that a user gains nothing by opening endpoints again.
  user_rate_read(maps_, known->second, limit);
  limit.ns_per_kib = ns_per_kib(rate);
  limit.burst_ns = kBurstNs;
  user_rate_write(maps_, known->second, limit);
  return known->second;
}

}  // namespace omx::broker
