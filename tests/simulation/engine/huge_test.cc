// SPDX-License-Identifier: BSD-3-Clause
// The largest message, 4 GiB - 1, so that offsets pass 2^31 and lengths need all of their 32 bits. It does
// not need that much memory: sender and receiver name one piece of memory 256 times.
#include <algorithm>
#include <cstring>
#include <vector>

#include "base/random.h"
#include "pair_world.h"

namespace omx::simulation {
namespace {

constexpr std::uint64_t kLength = 0xFFFFFFFF;
// A prime, so that an offset that lost its upper bits finds other data.
constexpr std::uint64_t kPiece = 16'777'259;
static_assert(kPiece * protocol::kMaxSegments > kLength);

std::vector<protocol::Segment> pieces(std::byte* memory) {
  std::vector<protocol::Segment> list;
  for (std::uint64_t at = 0; at < kLength; at += kPiece)
    list.push_back({memory, static_cast<std::uint32_t>(std::min(kPiece, kLength - at))});
  return list;
}

class Huge : public testing::TestWithParam<PairKind> {
 protected:
  // Checks and wipes the data before the window of the pull, which are complete, before the memory is reused.
  void check_until(std::uint64_t end) {
    while (checked < end) {
      const std::uint64_t at = checked % kPiece;
      const std::uint64_t length = std::min(end - checked, kPiece - at);
      ASSERT_EQ(std::memcmp(in.data() + at, out.data() + at, length), 0)
          << "damaged between " << checked << " and " << checked + length;
      std::memset(in.data() + at, 0, length);
      checked += length;
    }
  }
  void check() {
    protocol::Pull* pull = pair.engine(1).state().transfers.pull_list.front();
    if (!pull || pull->block_count == 0 || HasFatalFailure()) return;
    const std::uint64_t complete = std::uint64_t{pull->block(0).first} * pull->unit;
    ASSERT_LT(complete, kLength);
    if (complete >= checked + (1U << 20)) check_until(complete);
  }

  PairWorld pair{GetParam(), 9000};
  std::vector<std::byte> out = std::vector<std::byte>(kPiece), in = std::vector<std::byte>(kPiece);
  std::uint64_t checked = 0;
};

TEST_P(Huge, message_of_all_bits) {
  random_fill(out, 1);
  pair.world.faults().plan.loss = 0.001;
  pair.world.faults().plan.reorder = 0.01;
  ASSERT_TRUE(pair.connect_both());
  pair.world.on_activity([this](SimHost& host) {
    if (host.index() == 1) check();
  });
  const auto from = pieces(out.data()), to = pieces(in.data());
  protocol::ReceiveOp receive;
  receive.segments = to;
  protocol::SendOp send;
  send.segments = from;
  send.peer = pair.peer_of(0);
  auto* r = pair.engine(1).receive(pair.clock(1), receive).value();
  auto* s = pair.engine(0).send(pair.clock(0), send).value();
  for (std::uint32_t i = 0; i < 2; i++) pair.world.host(i).deadline_check();
  const auto over = [&] { return HasFatalFailure() || (pair.engine(0).done(s) && pair.engine(1).done(r)); };
  ASSERT_TRUE(pair.world.run_until(over, 100'000 * kSecond));
  ASSERT_FALSE(HasFatalFailure());
  EXPECT_GT(checked, kLength - (4U << 20)) << "most of it was checked on the way";
  check_until(kLength);
  const protocol::Completion sent = pair.engine(0).consume(s), received = pair.engine(1).consume(r);
  EXPECT_EQ(sent.status, protocol::Status::success);
  EXPECT_EQ(sent.xfer_length, kLength);
  EXPECT_EQ(received.status, protocol::Status::success);
  EXPECT_EQ(received.msg_length, kLength);
  EXPECT_EQ(received.xfer_length, kLength);
  EXPECT_GT(pair.count(1, protocol::Counter::pull_rerequest_gap) +
                pair.count(1, protocol::Counter::pull_rerequest_timer),
            100U);
}

INSTANTIATE_TEST_SUITE_P(All, Huge, all_pairs(), pair_name);

}  // namespace
}  // namespace omx::simulation
