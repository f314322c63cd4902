// SPDX-License-Identifier: BSD-3-Clause
// Matching, compared with a model that searches plain lists from the start.
#include <list>

#include "tests/protocol/support.h"

namespace omx::protocol::test {
namespace {

class Matching : public PairTest {};

TEST_F(Matching, receive__mask_must_cover_the_info) {
  open();
  ReceiveOp op;
  op.match_info = 3;
  op.match_mask = 1;
  const auto r = (*a)->receive(network.now, op);
  ASSERT_FALSE(r.has_value());
  EXPECT_EQ(r.error(), OpError::bad_match_mask);
  std::vector<Segment> many(257);
  op.match_mask = 3;
  op.segments = many;
  EXPECT_EQ((*a)->receive(network.now, op).error(), OpError::bad_segment_count);
  SendOp send_op;
  send_op.peer = to_b;
  send_op.segments = many;
  EXPECT_EQ((*a)->send(network.now, send_op).error(), OpError::bad_segment_count);
  send_op.segments = {};
  send_op.peer = nullptr;
  EXPECT_EQ((*a)->send(network.now, send_op).error(), OpError::bad_request);
}

TEST_F(Matching, order__exact_and_wildcard_receives_mixed) {
  open();
  // Posted are a wildcard, an exact and a wildcard receive. Messages take them in that order.
  Request* w1 = receive(*b, room(8), 0, 0);
  Request* exact = receive(*b, room(8), 5);
  Request* w2 = receive(*b, room(8), 0, 0);
  (void)send(*a, to_b, message(8), 5);
  (void)send(*a, to_b, message(8), 5);
  EXPECT_EQ(wait(*b, w1).match_info, 5U);
  EXPECT_EQ(wait(*b, exact).match_info, 5U);
  EXPECT_FALSE((*b)->done(w2));
  (void)send(*a, to_b, message(8), 6);
  EXPECT_EQ(wait(*b, w2).match_info, 6U);
}

TEST_F(Matching, order__large_and_eager_messages_match_in_sending_order) {
  open();
  network.faults.loss = 0.05;
  for (std::uint64_t i = 0; i < 60; i++)
    (void)send(*a, to_b, message(i % 3 == 0 ? 100000 : i % 3 == 1 ? 10 : 9000, i), i);
  for (std::uint64_t i = 0; i < 60; i++) {
    const Completion c = wait(*b, receive(*b, room(100000), 0, 0));
    EXPECT_EQ(c.match_info, i);
  }
}

TEST_F(Matching, source__directed_receives) {
  open();
  Host& c = network.add({});
  Peer* c_to_b = connect(network, c, *b);
  Peer* to_c = (*b)->find_peer(c->config().nic, 0);
  Bytes& in = room(8);
  Segment s = segment(in);
  ReceiveOp op;
  op.segments = {&s, 1};
  op.match_mask = 0;
  op.source = to_c;
  Request* from_c = (*b)->receive(network.now, op).value();
  Request* from_any = receive(*b, room(8), 0, 0);
  (void)send(*a, to_b, message(8), 1);
  EXPECT_EQ(wait(*b, from_any).peer, to_a);
  (void)send(*a, to_b, message(8), 1);
  (void)send(c, c_to_b, message(8), 2);
  EXPECT_EQ(wait(*b, from_c).peer, to_c);
  EXPECT_TRUE((*b)->probe(1, ~0ULL, to_a));
  EXPECT_FALSE((*b)->probe(1, ~0ULL, to_c));
}

// A receive from a peer that cannot be reached ends. A receive from any source continues.
TEST_F(Matching, source__unreachable_ends_directed_receives_and_connects) {
  open();
  Host& c = network.add({});
  (void)connect(network, c, *b);
  std::vector<Request*> directed;
  ReceiveOp op;
  op.match_mask = 0;
  op.awaited = true;
  op.source = (*b)->find_peer(c->config().nic, 0);
  for (int i = 0; i < 3; i++) {
    Segment s = segment(room(8));
    op.segments = {&s, 1};
    directed.push_back((*b)->receive(network.now, op).value());
  }
  Request* from_any = receive(*b, room(8), 0, 0);
  (*b)->peer_unreachable(network.now, c->config().nic, 0);
  for (Request* request : directed) EXPECT_EQ(wait(*b, request).status, Status::endpoint_unreachable);
  (*b)->peer_unreachable(network.now, 0x020000000077, 0);  // an unknown peer
  (void)send(*a, to_b, message(8), 1);
  EXPECT_EQ(wait(*b, from_any).peer, to_a);
  // A peer that was never reached.
  Peer* nobody = (*b)->peer(0x020000000077, 3);
  ASSERT_TRUE(nobody);
  Request* request = (*b)->connect(network.now, 0x020000000077, 3, 0, 0, nullptr, false).value();
  (*b)->peer_unreachable(network.now, 0x020000000077, 3);
  EXPECT_EQ(wait(*b, request).status, Status::endpoint_unreachable);
}

TEST_F(Matching, message_class__is_a_space_of_its_own) {
  open();
  for (const std::size_t length : {8, 100, 5000, 100000}) {
    for (const bool unexpected : {false, true}) {
      Bytes& out = message(length);
      Segment s = segment(out);
      SendOp op;
      op.peer = to_b;
      op.segments = {&s, 1};
      op.match_info = 1;
      op.message_class = 3;
      op.has_data = true;
      op.data = 0x1122334455667788;
      if (unexpected) {
        (void)(*a)->send(network.now, op);
        ASSERT_TRUE(
            network.run_until([&] { return (*b)->probe(1, ~0ULL, nullptr, 3).has_value(); }, kSecond));
      }
      Request* other = receive(*b, room(length), 1);
      Bytes& in = room(length);
      Segment d = segment(in);
      ReceiveOp rop;
      rop.segments = {&d, 1};
      rop.match_info = 1;
      rop.message_class = 3;
      Request* right = (*b)->receive(network.now, rop).value();
      if (!unexpected) (void)(*a)->send(network.now, op);
      const Completion c = wait(*b, right);
      EXPECT_TRUE(c.has_data);
      EXPECT_EQ(c.data, 0x1122334455667788U);
      EXPECT_EQ(in, out);
      EXPECT_TRUE(*(*b)->cancel(other));
    }
  }
}

TEST_F(Matching, posted__ten_thousand_deep) {
  open();
  std::vector<Request*> receives;
  for (std::uint64_t i = 0; i < 10000; i++)
    receives.push_back(receive(*b, room(4), i / 2, i % 3 == 0 ? 0xFFFFFFFF : ~0ULL));
  for (int i = 9999; i >= 0; i -= 2) EXPECT_TRUE(*(*b)->cancel(receives[static_cast<std::size_t>(i)]));
  for (std::uint64_t i = 4999;; i -= 100) {
    (void)send(*a, to_b, message(4), i);
    EXPECT_EQ(wait(*b, receives[2 * i]).match_info, i);
    if (i < 100) break;
  }
}

TEST_F(Matching, unexpected__ten_thousand_deep) {
  open();
  for (std::uint64_t i = 0; i < 10000; i++) (void)send(*a, to_b, message(4), i);
  ASSERT_TRUE(network.run_until([&] { return (*b)->state().matching.unexpected.size() == 10000; }));
  for (std::uint64_t i = 0; i < 10000; i++) {
    const std::uint64_t wanted = i % 2 ? 9999 - i / 2 : i / 2;
    const Completion c =
        i % 5 ? wait(*b, receive(*b, room(4), wanted)) : wait(*b, receive(*b, room(4), wanted, 0xFFFF));
    ASSERT_EQ(c.match_info, wanted);
  }
}

// --- the model ---

struct ModelMessage {
  std::uint64_t info;
  int id;
  std::uint8_t message_class;
};
struct ModelReceive {
  std::uint64_t info, mask;
  std::uint8_t message_class;
  bool from_a;  // names its source
  Request* request;
};

class Model {
 public:
  // Returns the receive that takes a message, or end().
  std::list<ModelReceive>::iterator arrive(const ModelMessage& m) {
    auto i = posted.begin();
    while (i != posted.end() && ((m.info & i->mask) != i->info || m.message_class != i->message_class)) i++;
    if (i == posted.end()) unexpected.push_back(m);
    return i;
  }
  std::list<ModelMessage>::iterator find(std::uint64_t info, std::uint64_t mask, std::uint8_t message_class) {
    auto i = unexpected.begin();
    while (i != unexpected.end() && ((i->info & mask) != info || i->message_class != message_class)) i++;
    return i;
  }
  std::list<ModelReceive> posted;
  std::list<ModelMessage> unexpected;
};

class MatchingModel : public PairTest, public testing::WithParamInterface<std::uint64_t> {};

TEST_P(MatchingModel, random__posts_arrivals_cancels_and_probes) {
  open();
  Random random(GetParam());
  Model model;
  // Classes 1 and 5 share tables.
  static const std::uint8_t kClasses[] = {0, 1, 5, 3};
  const std::uint64_t classes = 1 + random.below(4);
  static const std::uint64_t kMasks[] = {~0ULL, 0, 0x3, 0xC, 0xFF, 0xF0, 0x5, 0xFFFFFFFFFFFFFFF0ULL};
  const std::uint64_t masks = 1 + random.below(8);
  const std::uint64_t infos = 1 + random.below(40);
  double arrivals = 0.45;
  std::map<int, int> got;
  Bytes data(4);
  int next_id = 0;
  std::deque<int> buffers;
  for (int step = 0; step < 4000; step++) {
    if (step % 700 == 0) arrivals = random.chance(0.5) ? 0.6 : 0.3;
    const std::uint64_t info = random.below(infos);
    const std::uint64_t mask = kMasks[random.below(masks)];
    const std::uint8_t message_class = kClasses[random.below(classes)];
    const double what = static_cast<double>(random.below(1000)) / 1000;
    if (what < arrivals) {
      const ModelMessage m{info, next_id++, message_class};
      std::memcpy(data.data(), &m.id, 4);
      const Segment s = segment(data);
      SendOp op;
      op.peer = to_b;
      op.segments = {&s, 1};
      op.match_info = info;
      op.message_class = message_class;
      (void)(*a)->send(network.now, op);
      network.run_until([&] { return network.now == ~0ULL; }, 20'000);
      const auto i = model.arrive(m);
      if (i != model.posted.end()) {
        ASSERT_TRUE((*b)->done(i->request)) << step;
        EXPECT_EQ((*b)->consume(i->request).match_info, info);
        model.posted.erase(i);
      }
      if ((*a)->peek_done()) (*a)->consume((*a)->peek_done());
    } else if (what < 0.9) {
      const bool from_a = random.chance(0.5);
      int& value = buffers.emplace_back(-1);
      Segment s{reinterpret_cast<std::byte*>(&value), 4};
      ReceiveOp op;
      op.segments = {&s, 1};
      op.match_info = info & mask;
      op.match_mask = mask;
      op.source = from_a ? to_a : nullptr;
      op.message_class = message_class;
      Request* r = (*b)->receive(network.now, op).value();
      const auto i = model.find(info & mask, mask, message_class);
      if (i != model.unexpected.end()) {
        ASSERT_TRUE((*b)->done(r)) << step;
        EXPECT_EQ((*b)->consume(r).match_info, i->info);
        ASSERT_EQ(value, i->id) << step;
        model.unexpected.erase(i);
      } else {
        ASSERT_FALSE((*b)->done(r)) << step;
        model.posted.push_back({info & mask, mask, message_class, from_a, r});
      }
    } else if (what < 0.95) {
      if (model.posted.empty()) continue;
      auto i = model.posted.begin();
      std::advance(i, static_cast<long>(random.below(model.posted.size())));
      EXPECT_TRUE(*(*b)->cancel(i->request));
      model.posted.erase(i);
    } else {
      const auto i = model.find(info & mask, mask, message_class);
      const auto arrival = (*b)->probe(info & mask, mask, random.chance(0.5) ? to_a : nullptr, message_class);
      ASSERT_EQ(arrival.has_value(), i != model.unexpected.end()) << step;
      if (arrival) {
        EXPECT_EQ(arrival->match_info, i->info);
      }
    }
    ASSERT_EQ((*b)->state().matching.posted.size(), model.posted.size());
    ASSERT_EQ((*b)->state().matching.unexpected.size(), model.unexpected.size());
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, MatchingModel, testing::Range<std::uint64_t>(1, 13));

}  // namespace
}  // namespace omx::protocol::test
