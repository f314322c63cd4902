// SPDX-License-Identifier: BSD-3-Clause
// Two endpoints with bulk paths.
#pragma once

#include "tests/protocol/support.h"

namespace omx::protocol::test {

class BulkTest : public PairTest {
 protected:
  void open_bulk_paths() { open(with_bulk(1), with_bulk(2)); }
  // Loses the frames of the bulk path. They are awaited there, and then come by the link.
  void lose_and_send_again(std::size_t length) {
    network.faults.no_bulk = true;
    Bytes& out = message(length);
    Bytes& in = room(length);
    Request* r = receive(*b, in, 5);
    Request* sent = send(*a, to_b, out, 5);
    EXPECT_TRUE(network.run_until([&] { return b->endpoint->bulk_awaited(network.now); }, kSecond));
    EXPECT_EQ(wait(*b, r).status, Status::success) << "sent again by the link";
    EXPECT_EQ(in, out);
    EXPECT_EQ(wait(*a, sent).status, Status::success);
  }
  // Sends a first message, which brings the probe. Later ones use the bulk path.
  void make_known() {
    exchange(*a, to_b, *b, 50000);
    ASSERT_TRUE(to_b->bulk.out);
    ASSERT_TRUE(to_a->bulk.in);
  }
};

}  // namespace omx::protocol::test
