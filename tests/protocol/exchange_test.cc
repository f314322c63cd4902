// SPDX-License-Identifier: BSD-3-Clause
// Two engines exchange messages of every class, in both modes, with faults of every kind.
#include <gtest/gtest.h>

#include "tests/protocol/harness.h"

namespace omx::protocol::test {
namespace {

struct Variant {
  wire::Mode mode;
  std::uint32_t mtu_a, mtu_b;
  bool extension, checksum;
};

std::string variant_name(const testing::TestParamInfo<Variant>& info) {
  const Variant& v = info.param;
  return std::string(v.mode == wire::Mode::omx ? "omx" : "mxoe") + "_" + std::to_string(v.mtu_a) + "_" +
         std::to_string(v.mtu_b) + (v.extension ? "_ext" : "") + (v.checksum ? "_crc" : "");
}

Config config_of(const Variant& v, std::uint32_t mtu) {
  Config c;
  c.mode = v.mode;
  c.mtu = mtu;
  c.extension = v.extension;
  c.checksum = v.checksum;
  return c;
}

class Exchange : public testing::TestWithParam<Variant> {
 protected:
  void SetUp() override {
    a = &network.add(config_of(GetParam(), GetParam().mtu_a));
    b = &network.add(config_of(GetParam(), GetParam().mtu_b));
    to_b = connect(network, *a, *b);
    to_a = connect(network, *b, *a);
    ASSERT_NE(to_b, nullptr);
    ASSERT_NE(to_a, nullptr);
  }

  Request* send(Host& from, Peer* to, std::vector<std::byte>& data, std::uint64_t match, bool sync = false) {
    Segment s = segment(data);
    SendOp op;
    op.peer = to;
    op.segments = {&s, 1};
    op.match_info = match;
    op.synchronous = sync;
    return *from->send(network.now, op);
  }
  Request* receive(Host& at, std::vector<std::byte>& data, std::uint64_t match) {
    Segment s = segment(data);
    ReceiveOp op;
    op.segments = {&s, 1};
    op.match_info = match;
    return *at->receive(network.now, op);
  }

  Network network{7};
  Host* a = nullptr;
  Host* b = nullptr;
  Peer* to_b = nullptr;
  Peer* to_a = nullptr;
};

TEST_P(Exchange, every_size_class__posted_and_unexpected) {
  for (const std::size_t length :
       {0, 1, 32, 33, 128, 129, 1000, 4096, 4097, 30000, 32768, 32769, 100000, 1000000}) {
    for (const bool unexpected : {false, true}) {
      for (const bool sync : {false, true}) {
        auto out = pattern(length + 1, length);
        std::vector<std::byte> in(length + 8, std::byte{0xEE});
        Request* r = nullptr;
        if (!unexpected) r = receive(*b, in, 42);
        Request* s = send(*a, to_b, out, 42, sync);
        if (unexpected) {
          ASSERT_TRUE(network.run_until([&] { return (*b)->probe(42, ~0ULL).has_value(); }));
          EXPECT_EQ((*b)->probe(42, ~0ULL)->msg_length, length);
          if (sync) {
            EXPECT_FALSE((*a)->done(s));
          }
          r = receive(*b, in, 42);
        }
        ASSERT_TRUE(network.run_until([&] { return (*b)->done(r) && (*a)->done(s); })) << length;
        const Completion cr = (*b)->consume(r);
        const Completion cs = (*a)->consume(s);
        EXPECT_EQ(cr.status, Status::success);
        EXPECT_EQ(cs.status, Status::success);
        EXPECT_EQ(cr.msg_length, length);
        EXPECT_EQ(cr.xfer_length, length);
        EXPECT_EQ(cs.xfer_length, length);
        EXPECT_EQ(cr.peer, to_a);
        EXPECT_TRUE(std::equal(out.begin(), out.end(), in.begin())) << length;
        EXPECT_EQ(in[length], std::byte{0xEE});
      }
    }
  }
}

TEST_P(Exchange, truncation__both_sides_learn) {
  for (const std::size_t length : {20, 100, 20000, 200000}) {
    auto out = pattern(length, length);
    std::vector<std::byte> in(length / 2);
    in.resize(length / 2 + 16, std::byte{0xEE});
    Segment half{in.data(), static_cast<std::uint32_t>(length / 2)};
    ReceiveOp op;
    op.segments = {&half, 1};
    op.match_info = 5;
    Request* r = *(*b)->receive(network.now, op);
    Request* s = send(*a, to_b, out, 5);
    ASSERT_TRUE(network.run_until([&] { return (*b)->done(r) && (*a)->done(s); }));
    const Completion cr = (*b)->consume(r);
    EXPECT_EQ(cr.status, Status::truncated);
    EXPECT_EQ(cr.msg_length, length);
    EXPECT_EQ(cr.xfer_length, length / 2);
    EXPECT_EQ(std::memcmp(in.data(), out.data(), length / 2), 0);
    EXPECT_EQ(in[length / 2], std::byte{0xEE});
    const Completion cs = (*a)->consume(s);
    EXPECT_EQ(cs.status, length > 32768 ? Status::truncated : Status::success);
  }
}

// Sends random messages in both directions. Each must arrive once, intact, and in order per match value.
void storm(Network& network, Host& a, Peer* to_b, Host& b, Peer* to_a, int messages, std::uint64_t seed) {
  struct Direction {
    Host* from;
    Peer* to;
    Host* at;
    std::vector<std::vector<std::byte>> out, in;
    std::vector<Request*> sends, receives;
    int next_send = 0, next_receive = 0, received = 0, sent = 0;
    int send_check = 0;
  };
  Random random(seed);
  Direction directions[2] = {{&a, to_b, &b, {}, {}, {}, {}}, {&b, to_a, &a, {}, {}, {}, {}}};
  std::vector<std::size_t> lengths;
  for (int i = 0; i < messages; i++) {
    static const std::size_t kMax[] = {0, 32, 128, 3000, 32768, 33000, 300000};
    const auto klass = random.below(7);
    lengths.push_back(random.below(kMax[klass] + 1));
  }
  for (Direction& w : directions) {
    w.out.resize(messages);
    w.in.resize(messages);
    w.sends.resize(messages);
    w.receives.resize(messages);
  }
  const auto advance = [&](Direction& w) {
    while (w.next_send < messages && w.next_send < w.sent + 40) {
      const int i = w.next_send++;
      w.out[i] = pattern(seed * 1000 + i, lengths[i]);
      Segment s = segment(w.out[i]);
      SendOp op;
      op.peer = w.to;
      op.segments = {&s, 1};
      op.match_info = 9;
      op.synchronous = i % 17 == 3;
      w.sends[i] = *(*w.from)->send(network.now, op);
    }
    while (w.next_receive < messages && w.next_receive < w.received + 10) {
      const int i = w.next_receive++;
      w.in[i].resize(lengths[i]);
      Segment s = segment(w.in[i]);
      ReceiveOp op;
      op.segments = {&s, 1};
      op.match_info = 9;
      w.receives[i] = *(*w.at)->receive(network.now, op);
    }
    while (w.sent < messages && w.sends[w.sent] && (*w.from)->done(w.sends[w.sent])) {
      const Completion c = (*w.from)->consume(w.sends[w.sent]);
      ASSERT_EQ(c.status, Status::success) << w.sent;
      w.sent++;
    }
    while (w.received < w.next_receive && (*w.at)->done(w.receives[w.received])) {
      const int i = w.received++;
      const Completion c = (*w.at)->consume(w.receives[i]);
      ASSERT_EQ(c.status, Status::success) << i;
      ASSERT_EQ(c.msg_length, lengths[i]) << i;
      ASSERT_EQ(w.in[i], w.out[i]) << i;
    }
  };
  const bool ok = network.run_until([&] {
    for (Direction& w : directions) advance(w);
    if (testing::Test::HasFatalFailure()) return true;
    return directions[0].received == messages && directions[1].received == messages &&
           directions[0].sent == messages && directions[1].sent == messages;
  });
  EXPECT_TRUE(ok) << "received " << directions[0].received << " and " << directions[1].received << " of "
                  << messages << ", sent " << directions[0].sent << " and " << directions[1].sent << ", seed "
                  << seed;
}

TEST_P(Exchange, storm__clean) {
  storm(network, *a, to_b, *b, to_a, 500, 1);
}

TEST_P(Exchange, storm__loss_duplication_reordering) {
  network.faults.loss = 0.02;
  network.faults.duplicate = 0.02;
  network.faults.reorder = 0.05;
  for (std::uint64_t seed = 1; seed <= 5; seed++) storm(network, *a, to_b, *b, to_a, 200, seed);
}

TEST_P(Exchange, storm__corruption_with_checksum) {
  if (!GetParam().checksum) GTEST_SKIP() << "needs the checksum";
  network.faults.corrupt = 0.01;
  network.faults.loss = 0.01;
  for (std::uint64_t seed = 1; seed <= 5; seed++) storm(network, *a, to_b, *b, to_a, 200, seed);
  EXPECT_GT(a->counters[Counter::drop_bad_checksum] + b->counters[Counter::drop_bad_checksum], 0U);
}

INSTANTIATE_TEST_SUITE_P(All, Exchange,
                         testing::Values(Variant{wire::Mode::omx, 1500, 1500, true, false},
                                         Variant{wire::Mode::omx, 9000, 9000, true, false},
                                         Variant{wire::Mode::omx, 9000, 1500, true, false},
                                         Variant{wire::Mode::omx, 1500, 9000, true, true},
                                         Variant{wire::Mode::omx, 65535, 65535, true, true},
                                         Variant{wire::Mode::omx, 9000, 9000, true, true},
                                         Variant{wire::Mode::omx, 9000, 9000, false, false},
                                         Variant{wire::Mode::omx, 1500, 1500, false, false},
                                         Variant{wire::Mode::mxoe, 9000, 9000, false, false},
                                         Variant{wire::Mode::mxoe, 1500, 1500, false, false},
                                         Variant{wire::Mode::mxoe, 9000, 9000, true, true},
                                         Variant{wire::Mode::mxoe, 1500, 9000, true, true}),
                         variant_name);

}  // namespace
}  // namespace omx::protocol::test
