// SPDX-License-Identifier: BSD-3-Clause
#include "tools/broker/rates.h"

#include <fmt/format.h>

#include <algorithm>

#include "netdev/open_failure.h"

namespace omx::broker {

namespace {

constexpr std::uint64_t kBurstNs = 10'000'000;

std::uint64_t ns_per_kib(std::uint64_t rate) {
  return rate == 0 ? 0 : 8ULL * 1024 * 1'000'000'000 / rate;
}

}  // namespace

bool Rates::used(std::uint32_t number) const {
  return std::ranges::any_of(numbers_, [=](const auto& user) { return user.second == number; });
}

void Rates::adopt(uid_t uid, std::uint32_t number) {
  if (number > 0 && number < kUsers && !numbers_.contains(uid) && !used(number)) numbers_[uid] = number;
}

void Rates::give(uid_t uid) {
  numbers_.erase(uid);
}

Result<std::uint32_t> Rates::set(uid_t uid, std::uint64_t rate) {
  const auto known = numbers_.find(uid);
  UserRate limit;
  std::uint32_t number = 0;
  if (known != numbers_.end()) {
    number = known->second;
  } else if (rate == 0) {
    return 0;
  } else {
    for (number = 1; number < kUsers && used(number);) number++;
    if (number == kUsers)
      return fail(
          link::kNoResources,
          fmt::format("{} users have a rate, and the broker can hold no more back; let some users end "
                      "their programs, or give fewer a rate",
                      kUsers - 1));
    numbers_[uid] = number;
  }
  // Frames that were sent before still count, so that a user gains nothing by opening endpoints again.
  user_rate_read(maps_, number, limit);
  limit.ns_per_kib = ns_per_kib(rate);
  limit.burst_ns = kBurstNs;
  user_rate_write(maps_, number, limit);
  return number;
}

}  // namespace omx::broker
