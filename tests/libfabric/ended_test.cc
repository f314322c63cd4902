// SPDX-License-Identifier: BSD-3-Clause
// Peers that are gone, as seen by a program that waits for them (docs/reference/contract.md).
#include <cstdlib>

#include "fabric_pair.h"

namespace omx::fabric::test {
namespace {

int x, y;  // contexts

class Ended : public FabricTest {
 protected:
  void SetUp() override {
    FabricTest::SetUp();
    if (IsSkipped()) return;
    End::Options options;
    options.caps = FI_TAGGED | FI_MSG | FI_DIRECTED_RECV | FI_SOURCE | FI_MULTI_RECV;
    open(options);
  }
  // On the cable, no endpoint of that host is left that could say which endpoint is gone.
  static bool gone(int error) { return error == FI_ECONNRESET || error == FI_EHOSTUNREACH; }
  void exchange() {
    Bytes one(4), two(4);
    receive(b, one, 1, 0, &x, b_to_a);
    receive(a, two, 1, 0, &x, a_to_b);
    send(a, a_to_b, pattern(4, 1), 1);
    send(b, b_to_a, pattern(4, 1), 1);
    EXPECT_FALSE(ended(b, &x).failed);
    EXPECT_FALSE(ended(a, &x).failed);
  }
};

// b peeks for messages of a peer that it never talked to.
TEST_F(Ended, a_loop_of_looks_hears_that_the_peer_is_gone) {
  ASSERT_EQ(fi_close(&a.ep->fid), 0);
  a.ep = nullptr;
  fi_msg_tagged message{};
  message.addr = b_to_a;
  message.context = &x;
  int error = FI_ENOMSG;
  EXPECT_TRUE(drive_until([&] {
    EXPECT_EQ(fi_trecvmsg(b.ep, &message, FI_PEEK | FI_COMPLETION), 0);
    error = ended(b, &x).error.err;
    return error != FI_ENOMSG;
  }));
  EXPECT_TRUE(gone(error)) << error;
}

TEST_F(Ended, memory_for_several_messages_comes_back_with_the_error) {
  exchange();
  Bytes memory(1000);
  const iovec piece{memory.data(), memory.size()};
  fi_msg message{};
  message.msg_iov = &piece;
  message.iov_count = 1;
  message.addr = b_to_a;
  message.context = &y;
  ASSERT_EQ(fi_recvmsg(b.ep, &message, FI_MULTI_RECV | FI_COMPLETION), 0);
  ASSERT_EQ(fi_close(&a.ep->fid), 0);
  a.ep = nullptr;
  const Event got = ended(b, &y);
  EXPECT_TRUE(got.failed);
  EXPECT_TRUE(gone(got.error.err)) << got.error.err;
  EXPECT_TRUE(got.error.flags & FI_MULTI_RECV);
}

TEST_F(Ended, the_source_is_the_number_that_was_inserted_after_the_end) {
  if (std::getenv("OMX_TEST_LOCAL")) GTEST_SKIP() << "cuts the cable, which is not used";
  exchange();
  link::ip("link set v0 down");
  // The messages are large, so their completions tell whether they arrived.
  send(b, b_to_a, pattern(100'000, 2), 2, &y);
  send(a, a_to_b, pattern(100'000, 2), 2, &y);
  EXPECT_TRUE(ended(b, &y).failed);
  EXPECT_TRUE(ended(a, &y).failed);
  link::ip("link set v0 up");
  const fi_addr_t before = b_to_a;
  a_to_b = a.learn(b);
  b_to_a = b.learn(a);
  ASSERT_NE(b_to_a, before);
  Bytes in(4);
  receive(b, in, 3, 0, &x);
  send(a, a_to_b, pattern(4, 3), 3);
  const Event got = ended(b, &x);
  EXPECT_FALSE(got.failed);
  EXPECT_EQ(got.source, b_to_a);
  EXPECT_EQ(in, pattern(4, 3));
}

}  // namespace
}  // namespace omx::fabric::test
