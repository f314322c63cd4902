// SPDX-License-Identifier: BSD-3-Clause
// The rates of users, in the map that the egress program reads.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>

#include "base/expected.h"
#include "tools/broker/kernel/grant_map.h"

namespace omx::broker {

class Rates {
 public:
  // The maps must outlive the object.
  explicit Rates(const GrantMaps& maps) : maps_(maps) {}

  // Notes the number that a grant of an earlier broker has, unless another user has it by now.
  void adopt(uid_t uid, std::uint32_t number);
  // Sets the rate of a user, in bits a second; 0: no limit. Returns the user's number, or 0 if the user has
  // had no limit since its first grant. Fails if too many users have a rate.
  Result<std::uint32_t> set(uid_t uid, std::uint64_t rate);
  // Gives the number of a user back who has no grant any more.
  void give(uid_t uid);

 private:
  std::uint32_t number_free() const;

  const GrantMaps& maps_;
  std::map<uid_t, std::uint32_t> numbers_;
};

}  // namespace omx::broker
