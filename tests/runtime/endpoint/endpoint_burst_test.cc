// SPDX-License-Identifier: BSD-3-Clause
// Which short messages wait for others to share a frame.
#include "runtime/endpoint/endpoint_impl.h"
#include "tests/support/pair.h"

namespace omx::runtime {
namespace {

class endpoint_burst : public PairTest {
 protected:
  Settings settings() override {
    Settings s = PairTest::settings();
    s.waiting.progress = ProgressMode::automatic;  // without the thread no message waits
    return s;
  }
  std::uint64_t sent(protocol::Counter counter) const { return a_->counters()[counter]; }
};

// Messages to different peers share no frame, so waiting would only delay them (an MPI_Alltoall).
TEST_F(endpoint_burst, peers_in_turn__no_message_waits) {
  Endpoint* const c = open(*process_, "v1");
  const Address to_b = connect(*a_, *b_), to_c = connect(*a_, *c);
  const std::uint64_t before = sent(protocol::Counter::send_tiny) - resent(*a_);
  for (int i = 0; i < 50; i++) {
    send(*a_, to_b, Bytes(8), 1, true);
    send(*a_, to_c, Bytes(8), 1, true);
  }
  EXPECT_EQ(sent(protocol::Counter::send_tiny) - resent(*a_) - before, 100U);
  EXPECT_EQ(sent(protocol::Counter::send_coalesced), 0U);
}

// The messages that wait for more to one peer do not wait for those to another.
TEST_F(endpoint_burst, another_peer__ends_the_burst) {
  Endpoint* const c = open(*process_, "v1");
  const Address to_b = connect(*a_, *b_), to_c = connect(*a_, *c);
  for (int i = 0; i < 20; i++) send(*a_, to_b, Bytes(8), 1, true);
  send(*a_, to_c, Bytes(8), 1, true);
  EXPECT_FALSE(a_->impl().core.engine->held_any());
}

}  // namespace
}  // namespace omx::runtime
