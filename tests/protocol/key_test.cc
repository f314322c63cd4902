// SPDX-License-Identifier: BSD-3-Clause
// Wrong keys: they let nobody in, and yet a relation that the other side has given up does not live on
// because the one who asks does not know the key.
#include "tests/protocol/support.h"

namespace omx::protocol::test {
namespace {

// A has a key and connects to B, which answers without ever connecting back.
class Key : public PairTest, public testing::WithParamInterface<bool> {
 protected:
  void start() {
    Config keyed, open_to_all;
    keyed.key = 0x1234;
    keyed.extension = open_to_all.extension = GetParam();
    keyed.zombie_max = open_to_all.zombie_max = 0;
    open(keyed, open_to_all, false);
    exchange(*b, to_a, *a, 100);
    exchange(*a, to_b, *b, 100);
  }
};

TEST_P(Key, unknown_to_who_pings__a_partner_that_gave_up_is_noticed) {
  start();
  Request* large = send(*b, to_a, message(100000), 1);
  network.run_for(kSecond);  // acknowledged, waits for NOTIFY
  (*a)->disconnect(network.now, to_b);
  EXPECT_EQ(wait(*b, large, 20 * kSecond).status, Status::endpoint_unreachable);
  EXPECT_FALSE(to_a->connected()) << "a wrong key connects nobody";
  EXPECT_EQ(connect(network, *a, *b), to_b);
  exchange_both_ways();
}

TEST_P(Key, unknown_to_who_pings__unacknowledged_sends_end) {
  start();
  (*a)->disconnect(network.now, to_b);
  Request* small = send(*b, to_a, message(8), 1);
  Request* large = send(*b, to_a, message(100000), 1);
  EXPECT_EQ(wait(*b, small, 20 * kSecond).status, Status::endpoint_unreachable);
  EXPECT_EQ(wait(*b, large, 20 * kSecond).status, Status::endpoint_unreachable);
}

TEST_P(Key, unknown_to_who_pings__a_living_partner_is_kept) {
  start();
  Request* large = send(*b, to_a, message(100000), 1);
  network.run_for(30 * kSecond);
  EXPECT_GT(a->counters[Counter::recv_connect_request], 5U);
  EXPECT_FALSE((*b)->done(large));
  (void)receive(*a, room(100000), 1);
  EXPECT_EQ(wait(*b, large).status, Status::success);
  exchange_both_ways();
}

TEST_P(Key, wrong_in_a_connect__pings_keep_the_one_that_worked) {
  Config keyed, other;
  keyed.key = 0x1234;
  keyed.extension = other.extension = GetParam();
  a = &network.add(other);
  b = &network.add(keyed);
  to_b = connect(network, *a, *b, 0x1234);
  to_a = (*b)->find_partner((*a)->config().nic, 0);
  EXPECT_EQ(wait(*a, connect_start(*a, *b, 6)).status, Status::bad_key);
  EXPECT_EQ(to_b->key, 0x1234U);
  exchange_both_ways();
}

std::string key_name(const testing::TestParamInfo<bool>& info) {
  return info.param ? "extended" : "reference";
}
INSTANTIATE_TEST_SUITE_P(All, Key, testing::Bool(), key_name);

}  // namespace
}  // namespace omx::protocol::test
