// SPDX-License-Identifier: BSD-3-Clause
// The rates of users, in the map that the egress program reads.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>

#include "tools/broker/kernel/grant_map.h"

namespace omx::broker {

class Rates {
 public:
  // The maps must outlive the object.
  explicit Rates(const GrantMaps& maps) : maps_(maps) {}

  // Notes the number that a grant of an earlier broker has.
  void adopt(uid_t uid, std::uint32_t number) {
    if (number > 0 && number < kCrowd) numbers_[uid] = number;
  }
  // Sets the rate of a user, in bits a second; 0: no limit. Returns the user's number, or 0 if the user never
  // had a limit.
  std::uint32_t set(uid_t uid, std::uint64_t rate);

 private:
  // Users beyond the others share the last number, and the lowest rate among them.
  static constexpr std::uint32_t kCrowd = kUsers - 1;

  std::uint32_t number_of(uid_t uid);

  const GrantMaps& maps_;
  std::map<uid_t, std::uint32_t> numbers_;
  std::uint64_t crowd_rate_ = 0;
};

}  // namespace omx::broker
