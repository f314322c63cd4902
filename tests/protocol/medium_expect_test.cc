// SPDX-License-Identifier: BSD-3-Clause
// Tells a link the places of the fragments that come by the bulk path, once the message was announced.
#include <algorithm>

#include "tests/protocol/support.h"

namespace omx::protocol::test {
namespace {

class MediumExpect : public PairTest {
 protected:
  void SetUp() override {
    open(with_bulk(1), with_bulk(2));
    exchange(*a, to_b, *b, 20000);
    network.run_for(kMillisecond);
    ASSERT_TRUE(to_b->bulk.out);
    network.faults.hold_bulk = true;
    // The frames of one GSO batch are a little shorter. The last fragment goes by the link and starts the
    // message.
    length_ = batch * to_b->agreed.sizes.medium_frag;
  }
  std::vector<ExpectedFrame> expected(std::size_t most = 64) {
    std::vector<ExpectedFrame> places(most);
    places.resize((*b)->expected_by_bulk(network.now, places));
    return places;
  }
  // Runs until only frames of the bulk path are missing.
  void begin(bool has_data = false) {
    Segment s = segment(message(length_, 5));
    SendOp op;
    op.peer = to_b;
    op.segments = {&s, 1};
    op.match_info = 1;
    op.has_data = has_data;
    sent_ = (*a)->send(network.now, op).value();
    network.run_for(kMillisecond / 10);
    ASSERT_EQ(network.held.size(), batch);
  }
  // Places the data of frame `at` of the bulk path, as a link does.
  Bytes put(const ExpectedFrame& place, std::size_t at) {
    Bytes frame = network.held.at(at);
    EXPECT_EQ(frame.size(), place.header + place.length);
    std::copy(frame.begin() + place.header, frame.end(), place.place);
    std::fill(frame.begin() + place.header, frame.end(), std::byte{0xDD});
    return frame;
  }
  const std::size_t batch = wire::gso_batch_frames(1500 - 28);
  std::size_t length_ = 0;
  Request* sent_ = nullptr;
};

TEST_F(MediumExpect, each_fragment_in_its_place) {
  for (const bool has_data : {false, true}) {
    Bytes& in = room(length_);
    Request* r = receive(*b, in, 1);
    begin(has_data);
    const auto places = expected();
    ASSERT_EQ(places.size(), batch);
    for (std::size_t i = 0; i < batch; i++) {
      const Bytes frame = put(places[i], i);
      EXPECT_TRUE((*b)->is_expected(places[i], frame));
      EXPECT_FALSE((*b)->is_expected(places[(i + 1) % batch], frame));
      EXPECT_FALSE((*b)->done(r));
      (*b)->on_placed(network.now, places[i], frame);
    }
    const Completion c = wait(*b, r);
    EXPECT_EQ(c.status, Status::success);
    EXPECT_EQ(c.has_data, has_data);
    EXPECT_EQ(in, pattern(5, length_));
    EXPECT_TRUE(expected().empty());
    EXPECT_EQ(wait(*a, sent_).status, Status::success);
    network.held.clear();
  }
}

TEST_F(MediumExpect, unexpected__in_memory_of_ours) {
  begin();
  const auto places = expected();
  ASSERT_EQ(places.size(), batch);
  for (std::size_t i = batch; i-- > 0;) (*b)->on_placed(network.now, places[i], put(places[i], i));
  Bytes& in = room(length_);
  EXPECT_EQ(wait(*b, receive(*b, in, 1)).status, Status::success);
  EXPECT_EQ(in, pattern(5, length_));
}

TEST_F(MediumExpect, truncated__nothing_beyond_the_end) {
  Bytes& in = room(length_ / 2);
  Request* r = receive(*b, in, 1);
  begin();
  const auto places = expected();
  ASSERT_FALSE(places.empty());
  EXPECT_LT(places.size(), batch);
  for (const ExpectedFrame& place : places) EXPECT_LE(place.place + place.length, in.data() + in.size());
  for (const Bytes& frame : network.held) network.inject(frame);
  EXPECT_EQ(wait(*b, r).status, Status::truncated);
  const Bytes all = pattern(5, length_);
  EXPECT_TRUE(std::equal(in.begin(), in.end(), all.begin()));
}

TEST_F(MediumExpect, two_at_once__none) {
  Host& c = network.add(with_bulk(3));
  Peer* c_to_b = connect(network, c, *b);
  network.faults.hold_bulk = false;
  exchange(c, c_to_b, *b, 20000);
  network.run_for(kMillisecond);
  ASSERT_TRUE(c_to_b->bulk.out);
  network.faults.hold_bulk = true;
  begin();
  (void)send(c, c_to_b, message(length_), 2);
  network.run_for(kMillisecond / 10);
  EXPECT_TRUE(expected().empty());
}

// A frame that was received into a place may be another one than expected. Then nothing has happened.
TEST_F(MediumExpect, other_frames__are_not_taken) {
  Bytes& in = room(length_);
  Request* r = receive(*b, in, 1);
  begin();
  const auto places = expected();
  const auto before = b->counters[Counter::recv_medium_frag];
  Bytes first = put(places[0], 0);
  wire::Medium packet;
  const std::byte* data = nullptr;
  ASSERT_EQ(wire::decode_medium(first, wire::Mode::omx, true, packet, &data), wire::Drop::none);
  const NicId a_nic = (*a)->config().nic;
  const auto refused = [&](const wire::Medium& other, NicId from, const char* what) {
    const Bytes frame = hand_made(
        from, (*b)->config().nic, wire::PacketType::medium,
        [&](std::byte* out, wire::Head head) {
          head.peer_index = 0;
          return encode_medium(out, head, wire::Mode::omx, other);
        },
        Bytes(other.frag_length));
    EXPECT_FALSE((*b)->is_expected(places[0], frame)) << what;
    (*b)->on_placed(network.now, places[0], frame);
  };
  const auto with = [&](auto change) {
    wire::Medium other = packet;
    change(other);
    return other;
  };
  refused(packet, a_nic + 1, "another board's");
  refused(with([](wire::Medium& m) { m.dst_endpoint++; }), a_nic, "for another endpoint");
  refused(with([](wire::Medium& m) { m.src_endpoint++; }), a_nic, "another endpoint's");
  refused(with([](wire::Medium& m) { m.session++; }), a_nic, "of another session");
  refused(with([](wire::Medium& m) { m.seqnum++; }), a_nic, "of the next message");
  refused(with([](wire::Medium& m) { m.length--; }), a_nic, "of a shorter message");
  refused(with([](wire::Medium& m) { m.frag_seqnum++; }), a_nic, "the next fragment");
  refused(with([](wire::Medium& m) { m.flags |= wire::kFlagHeaderExt; }), a_nic, "with a longer header");
  EXPECT_EQ(b->counters[Counter::recv_medium_frag], before);
  for (const Bytes& frame : network.held) network.inject(frame);
  EXPECT_EQ(wait(*b, r).status, Status::success);
  EXPECT_EQ(in, pattern(5, length_));
}

// The peer may be dropped after a frame was placed and before it is processed.
TEST_F(MediumExpect, peer_dropped__what_was_placed_is_forgotten) {
  Bytes& in = room(length_);
  Request* r = receive(*b, in, 1);
  begin();
  const auto places = expected();
  const Bytes frame = put(places[0], 0);
  ASSERT_TRUE((*b)->is_expected(places[0], frame));
  (*b)->disconnect(network.now, to_a);
  EXPECT_EQ(wait(*b, r).status, Status::endpoint_unreachable);
  (*b)->on_placed(network.now, places[0], frame);
  EXPECT_TRUE(expected().empty());
}

}  // namespace
}  // namespace omx::protocol::test
