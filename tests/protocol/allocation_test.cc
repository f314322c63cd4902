// SPDX-License-Identifier: BSD-3-Clause
// Once warm, messages of every class move without a single allocation.
#include "tests/support/allocation_count.h"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <memory>
#include <vector>

#include "protocol/endpoint.h"

namespace omx::protocol::test {
namespace {

// A cable that uses a fixed amount of memory.
class Cable : public wire::FrameSink {
 public:
  wire::TxFrame& frame_begin(std::uint32_t max_segments) override {
    EXPECT_LT(max_segments, iov_.size());
    frame_.segments = iov_.data();
    frame_.segment_count = frame_.header_length = 0;
    return frame_;
  }
  void frame_commit() override {
    ASSERT_LT(tail_ - head_, kSlots);
    Slot& slot = slots_[tail_++ % kSlots];
    std::memcpy(slot.bytes, frame_.header, frame_.header_length);
    slot.length = frame_.header_length;
    for (std::uint32_t i = 0; i < frame_.segment_count; i++) {
      std::memcpy(slot.bytes + slot.length, frame_.segments[i].iov_base, frame_.segments[i].iov_len);
      slot.length += frame_.segments[i].iov_len;
    }
    for (; slot.length < wire::kMinFrame; slot.length++) slot.bytes[slot.length] = std::byte{0};
  }
  void flush() override {}
  bool deliver(Endpoint& to, TimeNs now) {
    if (head_ == tail_) return false;
    const Slot& slot = slots_[head_++ % kSlots];
    to.on_frame(now, {slot.bytes, slot.length});
    return true;
  }

 private:
  static constexpr std::size_t kSlots = 512;
  struct Slot {
    std::size_t length = 0;
    std::byte bytes[1600];
  };
  std::vector<Slot> slots_{kSlots};
  std::size_t head_ = 0, tail_ = 0;
  wire::TxFrame frame_;
  std::array<iovec, 8> iov_;
};

class Allocation : public testing::Test {
 protected:
  Allocation() {
    Config config;
    config.session = 1;
    config.nic = 1;
    a = std::make_unique<Endpoint>(config, from_a, counters_a);
    config.session = config.nic = 2;
    b = std::make_unique<Endpoint>(config, from_b, counters_b);
    (void)a->connect(now, 2, 0, 0, 0, nullptr, true);
    (void)b->connect(now, 1, 0, 0, 0, nullptr, true);
    settle();
    to_b = a->find_peer(2, 0);
    to_a = b->find_peer(1, 0);
  }
  void settle() {
    for (bool busy = true; busy;) {
      now += 1000;
      busy = from_a.deliver(*b, now);
      if (from_b.deliver(*a, now)) busy = true;
      a->progress(now);
      b->progress(now);
    }
  }
  Request* send(Endpoint& from, Peer* to, Segment s) {
    SendOp op;
    op.peer = to;
    op.segments = {&s, 1};
    op.match_info = 5;
    return from.send(now, op).value();
  }
  Request* receive(Endpoint& at, Segment s) {
    ReceiveOp op;
    op.segments = {&s, 1};
    op.match_info = 5;
    op.match_mask = 0xFF;
    return at.receive(now, op).value();
  }
  void round(std::uint32_t length, bool unexpected) {
    const Segment source{out.data(), length}, target{in.data(), length};
    for (int way = 0; way < 2; way++) {
      Endpoint& from = way ? *b : *a;
      Endpoint& at = way ? *a : *b;
      Request* r = unexpected ? nullptr : receive(at, target);
      Request* s = send(from, way ? to_a : to_b, source);
      settle();
      if (unexpected) {
        r = receive(at, target);
        settle();
      }
      ASSERT_TRUE(at.done(r));
      at.consume(r);
      for (int i = 0; i < 3 && !from.done(s); i++) {  // a delayed acknowledgement
        now += 2 * kMillisecond;
        settle();
      }
      ASSERT_TRUE(from.done(s));
      from.consume(s);
    }
  }

  TimeNs now = kMillisecond;
  Counters counters_a, counters_b;
  Cable from_a, from_b;
  std::unique_ptr<Endpoint> a, b;
  Peer* to_b = nullptr;
  Peer* to_a = nullptr;
  std::vector<std::byte> out = std::vector<std::byte>(50000, std::byte{7});
  std::vector<std::byte> in = std::vector<std::byte>(50000);
};

TEST_F(Allocation, warm_path__ten_thousand_ping_pongs) {
  const std::uint32_t lengths[] = {8, 100, 5000, 50000};
  const auto all = [&](int rounds) {
    for (int i = 0; i < rounds; i++)
      for (const std::uint32_t length : lengths)
        if (length < 50000 || i % 8 == 0) round(length, i % 4 == 3);
  };
  all(300);
  const std::uint64_t before = omx::test::allocation_count();
  all(10000);
  EXPECT_EQ(omx::test::allocation_count(), before);
  EXPECT_EQ(in, out);
}

}  // namespace
}  // namespace omx::protocol::test
