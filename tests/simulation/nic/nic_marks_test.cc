// SPDX-License-Identifier: BSD-3-Clause
// The engine on the papers' hosts marks frames and asks for large messages as the papers say.
#include <gtest/gtest.h>

#include <map>

#include "simulation/nic/collectives.h"
#include "simulation/nic/measurement.h"

namespace omx::simulation::nic {
namespace {

using wire::PacketType;

constexpr double kBlock = 32 * 1472;  // bytes of a block with MTU 1500

struct Sent {
  std::map<PacketType, int> frames, marked;
  double most_asked = 0;  // bytes of blocks that were asked for and had not come, at most
};

// Sends messages of one size from the first host to the second, all at once.
Sent send(WorkOptions options, std::uint32_t size, std::uint32_t messages = 1) {
  Measurement m(options);
  EXPECT_TRUE(m.ready());
  Sent sent;
  double asked = 0;
  m.network.on_transmit = [&](std::uint32_t, SimFrame& frame) {
    const PacketType type = frame.type();
    sent.frames[type]++;
    if ((wire::frame_flags(frame.bytes) & wire::kFlagUrgent) != 0) sent.marked[type]++;
    if (type == PacketType::pull) asked += kBlock;
    if (type == PacketType::pull_reply) asked -= static_cast<double>(frame.bytes.size() - 32);
    sent.most_asked = std::max(sent.most_asked, asked);
  };
  Process &from = m.network.process(0), &to = m.network.process(1);
  std::vector<std::byte> out(size);
  std::vector<std::vector<std::byte>> in(messages, out);
  std::uint32_t done = 0;
  to.on_progress = [&] {
    while (protocol::Request* r = to.engine().peek_done())
      if (to.engine().consume(r).status == protocol::Status::success) done++;
  };
  for (std::uint32_t i = 0; i < messages; i++) {
    to.call(0, [&, i] { m.receive(to, in[i], 7); });
    from.call(0, [&] { m.send(from, m.network.peer(0, 0, 1, 0), out, 7); });
  }
  EXPECT_TRUE(m.network.run_until([&] { return done == messages; }));
  m.network.run_for(1'000'000);
  return sent;
}

TEST(NicMarks, large_message__the_last_frame_of_each_of_five_blocks_is_marked) {
  Sent sent = send({}, 234'000);
  EXPECT_EQ(sent.frames[PacketType::pull_reply], 159);
  EXPECT_EQ(sent.frames[PacketType::pull], 5);
  EXPECT_EQ(sent.marked[PacketType::pull_reply], 5);
  EXPECT_EQ(sent.marked[PacketType::pull], 5);
  EXPECT_EQ(sent.marked[PacketType::rndv], 1);
  EXPECT_EQ(sent.marked[PacketType::notify], 1);
}

TEST(NicMarks, own_pulls__leave_blocks_unmarked) {
  WorkOptions own;
  own.network.own_pulls = true;
  Sent sent = send(own, 234'000);
  EXPECT_EQ(sent.frames[PacketType::pull_reply], 159);
  EXPECT_LT(sent.marked[PacketType::pull_reply], 5);
}

TEST(NicMarks, several_messages__each_has_four_blocks_in_flight) {
  EXPECT_GT(send({}, 1U << 20, 4).most_asked, 3 * 4 * kBlock);
  WorkOptions own;
  own.network.own_pulls = true;
  EXPECT_LE(send(own, 1U << 20, 4).most_asked, 3 * 4 * kBlock) << "the window";
}

}  // namespace
}  // namespace omx::simulation::nic
