// SPDX-License-Identifier: BSD-3-Clause
#include "protocol/state/region_waiters.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <memory>
#include <vector>

#include "base/random.h"

namespace omx::protocol {
namespace {

TEST(RegionWaiters, first_come_first_served_after_random_changes) {
  std::vector<std::unique_ptr<Peer>> peers;
  for (int i = 0; i < 8; i++) peers.push_back(std::make_unique<Peer>());
  RegionWaiters waiters;
  std::deque<Peer*> expected;
  Random random(1);
  for (int step = 0; step < 5000; step++) {
    Peer* const p = peers[random.below(peers.size())].get();
    const auto at = std::find(expected.begin(), expected.end(), p);
    if (random.below(2)) {
      waiters.add(*p);
      if (at == expected.end()) expected.push_back(p);
    } else {
      waiters.remove(*p);
      if (at != expected.end()) expected.erase(at);
    }
    ASSERT_EQ(waiters.empty(), expected.empty());
    ASSERT_EQ(waiters.front(), expected.empty() ? nullptr : expected.front());
    for (const auto& each : peers) {
      const bool waits = std::find(expected.begin(), expected.end(), each.get()) != expected.end();
      ASSERT_EQ(each->tx.region_blocked, waits);
    }
  }
  for (Peer* p : expected) {
    ASSERT_EQ(waiters.front(), p);
    waiters.remove(*p);
  }
  EXPECT_TRUE(waiters.empty());
}

}  // namespace
}  // namespace omx::protocol
