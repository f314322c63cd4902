// SPDX-License-Identifier: BSD-3-Clause
// The short way of lone messages (lone_send.cc, lone_received.cc) does what the long one does: the same
// program on the same cable sends the same frames at the same times, and ends with the same results and
// counters.
#include <string>
#include <utility>

#include "protocol/events/lone_received.h"
#include "protocol/events/lone_send.h"
#include "tests/protocol/support.h"

namespace omx::protocol::test {
namespace {

struct Case {
  const char* name;
  Config config;
  Faults faults;
  std::size_t longest = 150;  // of most messages
};

std::vector<Case> cases() {
  std::vector<Case> all;
  all.push_back({"plain", {}, {}});
  Faults lossy;
  lossy.loss = lossy.duplicate = lossy.reorder = 0.05;
  all.push_back({"lossy", {}, lossy});
  Faults corrupting;
  corrupting.corrupt = 0.05;
  Config checksum;
  checksum.checksum = true;
  all.push_back({"checksum", checksum, corrupting});
  Config few;
  few.buffered_sends_max = 2;
  few.eager_frames = 4;
  few.buffer_bytes = 4096;
  all.push_back({"narrow", few, lossy});
  Config legacy;
  legacy.extension = false;
  all.push_back({"legacy", legacy, lossy});
  Config contexts;
  contexts.context_bits = 4;
  all.push_back({"contexts", contexts, {}});
  Config mxoe;
  mxoe.mode = wire::Mode::mxoe;
  all.push_back({"mxoe", mxoe, lossy});
  all.push_back({"mixed", {}, lossy, 5000});
  return all;
}

// The frames, results and counters of one run.
struct Shown {
  std::vector<std::pair<TimeNs, Bytes>> frames;
  std::vector<std::string> ends;
  Counters counters[2];
};

class Program {
 public:
  Program(const Case& what, bool lone, std::uint64_t seed) : what_(what), random_(seed), network_(seed) {
    Config config = what.config;
    config.lone = lone;
    for (int i = 0; i < 2; i++) hosts_[i] = &network_.add(config);
    for (int i = 0; i < 2; i++) peers_[i] = connect(network_, *hosts_[i], *hosts_[1 - i]);
    network_.faults = what.faults;
    network_.faults.drop = [this](const Bytes& frame) {
      shown_.frames.emplace_back(network_.now, frame);
      return false;
    };
  }

  Shown run() {
    for (int i = 0; i < 400; i++) act();
    network_.faults = {};
    network_.run_for(20 * kSecond);
    for (int i = 0; i < 2; i++) {
      collect(i);
      shown_.counters[i] = hosts_[i]->counters;
    }
    return std::move(shown_);
  }

 private:
  void act() {
    const int who = static_cast<int>(random_.below(2));
    switch (random_.below(5)) {
      case 0:
      case 1:
        send(who);
        break;
      case 2:
        receive(who);
        break;
      case 3:
        network_.run_for(random_.below(200'000));
        break;
      default:
        collect(who);
    }
  }

  void send(int who) {
    const std::size_t length = random_.below(what_.longest);
    Bytes& data = memory_.emplace_back(pattern(random_.next(), length));
    const Segment s = segment(data);
    SendOp op;
    op.peer = peers_[who];
    if (length > 0 || random_.chance(0.5)) op.segments = {&s, 1};
    op.match_info = random_.below(4);
    op.synchronous = random_.chance(0.02);
    op.delivered = random_.chance(0.02);
    op.inject = random_.chance(0.1);
    op.forgotten = random_.chance(0.1);
    op.has_data = what_.config.extension && random_.chance(0.05);
    op.data = op.has_data ? random_.next() : 0;
    op.message_class = what_.config.extension && random_.chance(0.3) ? 1 : 0;
    op.confirmed = random_.chance(0.1);
    op.advice.hold = random_.chance(0.1);
    (*hosts_[who])->send(network_.now, op);
    if (!op.advice.hold) (*hosts_[who])->release(network_.now);
  }

  void receive(int who) {
    Bytes& data = memory_.emplace_back(random_.below(what_.longest) + 20, std::byte{0});
    const Segment s = segment(data);
    ReceiveOp op;
    op.segments = {&s, 1};
    const bool any = what_.config.context_bits == 0 && random_.chance(0.3);
    op.match_mask = any ? 0 : ~std::uint64_t{0};
    op.match_info = any ? 0 : random_.below(4);
    op.message_class = what_.config.extension && random_.chance(0.3) ? 1 : 0;
    op.context = &data;
    (*hosts_[who])->receive(network_.now, op);
  }

  void collect(int who) {
    Endpoint& engine = **hosts_[who];
    while (Request* const done = engine.peek_done()) {
      const Completion c = engine.consume(done);
      std::string text = std::to_string(who);
      for (const std::uint64_t part :
           {std::uint64_t(c.kind), std::uint64_t(c.status), c.match_info, std::uint64_t{c.msg_length},
            std::uint64_t{c.xfer_length}, c.data, std::uint64_t{c.session}, std::uint64_t{c.conversation}})
        text += ' ' + std::to_string(part);
      if (c.kind == RequestKind::receive)
        for (const std::byte byte : *static_cast<const Bytes*>(c.context)) text += static_cast<char>(byte);
      shown_.ends.push_back(std::move(text));
    }
  }

  const Case& what_;
  Random random_;
  std::deque<Bytes> memory_;
  Network network_;
  Host* hosts_[2];
  Peer* peers_[2];
  Shown shown_;
};

TEST(Lone, the_short_way_does_what_the_long_one_does) {
  for (const Case& what : cases()) {
    for (std::uint64_t seed = 1; seed <= 40; seed++) {
      SCOPED_TRACE(std::string(what.name) + ", seed " + std::to_string(seed));
      const Shown shorter = Program(what, true, seed).run(), longer = Program(what, false, seed).run();
      ASSERT_EQ(shorter.ends, longer.ends);
      ASSERT_EQ(shorter.frames.size(), longer.frames.size());
      for (std::size_t i = 0; i < longer.frames.size(); i++) {
        ASSERT_EQ(shorter.frames[i].first, longer.frames[i].first) << "time of frame " << i;
        ASSERT_EQ(shorter.frames[i].second, longer.frames[i].second) << "frame " << i;
      }
      for (int host = 0; host < 2; host++)
        for (std::size_t i = 0; i < kCounterCount; i++)
          ASSERT_EQ(shorter.counters[host][static_cast<Counter>(i)],
                    longer.counters[host][static_cast<Counter>(i)])
              << "counter " << i << " of host " << host;
    }
  }
}

// Without this, the comparison could compare the long way with itself.
class LoneMessage : public PairTest {};

TEST_F(LoneMessage, takes_the_short_way) {
  open();
  exchange(*a, to_b, *b, 8);
  Bytes& data = message(8);
  Bytes frame;
  network.faults.drop = [&](const Bytes& sent) {
    frame = sent;
    return true;
  };
  const Segment s = segment(data);
  SendOp op;
  op.peer = to_b;
  op.segments = {&s, 1};
  op.match_info = 5;
  Request* const sent = lone_send((*a)->state(), op);
  ASSERT_NE(sent, nullptr);
  ASSERT_FALSE(frame.empty());
  EXPECT_FALSE(lone_received((*b)->state(), frame)) << "no receive is posted";
  Bytes& in = room(8);
  Request* const posted = receive(*b, in, 5);
  EXPECT_TRUE(lone_received((*b)->state(), frame));
  EXPECT_FALSE(lone_received((*b)->state(), frame)) << "it came before";
  EXPECT_EQ((*b)->consume(posted).msg_length, 8U);
  EXPECT_EQ(in, data);
  op.synchronous = true;
  EXPECT_EQ(lone_send((*a)->state(), op), nullptr);
  network.faults.drop = nullptr;
  EXPECT_EQ(wait(*a, sent).status, Status::success);
}

}  // namespace
}  // namespace omx::protocol::test
