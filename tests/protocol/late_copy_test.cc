// SPDX-License-Identifier: BSD-3-Clause
// Messages that are sent from the user's memory and copied while they are under way (send.cc).
#include <new>

#include "tests/protocol/support.h"

namespace omx::protocol::test {
namespace {

constexpr std::size_t kLength = 8000;

class LateCopies : public PairTest {
 protected:
  void SetUp() override {
    open();
    exchange_both_ways();
  }
  // Sends a message, and overwrites the memory when the send is complete.
  void send_and_overwrite() {
    received_ = receive(*b, in_, 1);
    Bytes& out = message(kLength, 3);
    Request* s = send(*a, to_b, out, 1);
    ASSERT_TRUE((*a)->done(s));
    std::fill(out.begin(), out.end(), std::byte{0xDD});
  }
  void expect_what_was_sent() {
    EXPECT_EQ(wait(*b, received_).status, Status::success);
    EXPECT_EQ(in_, pattern(3, kLength));
  }

 private:
  Bytes in_ = Bytes(kLength);
  Request* received_ = nullptr;
};

TEST_F(LateCopies, what_is_complete_may_be_overwritten) {
  a->coalesces_late = true;
  send_and_overwrite();
  a->flush();
  a->coalesces_late = false;
  expect_what_was_sent();
}

TEST_F(LateCopies, sent_again_from_the_copy) {
  network.faults.drop = drop_all(wire::PacketType::medium);
  send_and_overwrite();
  network.run_for(kMillisecond);
  network.faults.drop = nullptr;
  expect_what_was_sent();
}

// Memory may run out in the sink. Then the call has failed, though the message may arrive.
TEST_F(LateCopies, sending_throws__the_memory_is_free_all_the_same) {
  network.faults.drop = [](const Bytes&) -> bool { throw std::bad_alloc(); };
  auto user = std::make_unique<Bytes>(pattern(3, kLength));
  EXPECT_THROW((void)send(*a, to_b, *user, 1), std::bad_alloc);
  network.faults.drop = nullptr;
  user.reset();
  Bytes& in = room(kLength);
  Request* r = receive(*b, in, 1);
  exchange(*b, to_a, *a, 20);
  (void)send(*a, to_b, message(10), 2);  // the message before it is missing, and is repeated
  network.run_for(5 * kSecond);
  ASSERT_TRUE((*b)->done(r));
  EXPECT_EQ((*b)->consume(r).status, Status::success);
  EXPECT_EQ(in, pattern(3, kLength));
}

// Messages that waited for the window leave together.
TEST_F(LateCopies, several__one_flush) {
  network.faults.drop = drop_all(wire::PacketType::truc);
  Bytes& out = message(kLength);
  Request* last = nullptr;
  for (int i = 0; i < 300; i++) last = send(*a, to_b, out, 1);
  ASSERT_FALSE((*a)->done(last));
  for (int i = 0; i < 300; i++) (void)receive(*b, room(kLength), 1);
  network.faults.drop = nullptr;
  const auto fragments = a->counters[Counter::send_medium_frag];
  const std::uint32_t flushes = a->flushes;
  (void)wait(*a, last);
  EXPECT_GT(a->counters[Counter::send_medium_frag] - fragments, 300U);
  EXPECT_LE(a->flushes - flushes, 1U);
}

}  // namespace
}  // namespace omx::protocol::test
