// SPDX-License-Identifier: BSD-3-Clause
// The small parts: segment lists, numbers, timers.
#include "protocol/state/segments.h"
#include "protocol/state/seqnum.h"
#include "protocol/state/timer.h"

#include <gtest/gtest.h>

#include <numeric>
#include <vector>

#include "base/random.h"

namespace omx::protocol {
namespace {

TEST(Segments, write_read_gather__every_range_of_odd_pieces) {
  std::vector<std::byte> memory(64, std::byte{0});
  // 3 + 0 + 7 + 1 + 0 + 5 bytes, not in order of address.
  const Segment pieces[] = {{&memory[40], 3}, {nullptr, 0},    {&memory[0], 7},
                            {&memory[20], 1}, {&memory[9], 0}, {&memory[50], 5}};
  BufferPool pool(1 << 20);
  SegmentList list;
  ASSERT_TRUE(list.assign(pieces, pool));
  EXPECT_EQ(list.length(), 16U);
  EXPECT_EQ(list.count(), 6U);
  std::vector<std::byte> flat(16), out(16);
  for (std::size_t i = 0; i < 16; i++) flat[i] = static_cast<std::byte>(i + 1);
  for (std::size_t offset = 0; offset <= 16; offset++) {
    for (std::size_t length = 0; offset + length <= 16; length++) {
      std::fill(memory.begin(), memory.end(), std::byte{0});
      list.write(offset, flat.data(), length);
      EXPECT_EQ(std::accumulate(memory.begin(), memory.end(), 0U,
                                [](unsigned sum, std::byte b) { return sum + std::to_integer<unsigned>(b); }),
                length * (length + 1) / 2);
      std::fill(out.begin(), out.end(), std::byte{0});
      list.read(offset, out.data(), length);
      EXPECT_TRUE(std::equal(out.begin(), out.begin() + static_cast<long>(length), flat.begin()));
      iovec iov[6];
      const std::uint32_t n = list.gather(offset, length, iov);
      std::size_t total = 0;
      for (std::uint32_t i = 0; i < n; i++) {
        EXPECT_GT(iov[i].iov_len, 0U);
        total += iov[i].iov_len;
      }
      EXPECT_EQ(total, length);
    }
  }
  list.clear(pool);
  EXPECT_EQ(pool.in_use(), 0U);
}

TEST(Segments, assign__without_memory) {
  BufferPool pool(0);
  SegmentList list;
  const Segment two[2] = {};
  EXPECT_FALSE(list.assign(two, pool));
  list.clear(pool);
  EXPECT_TRUE(list.assign({two, 1}, pool)) << "one is kept inline";
  EXPECT_TRUE(list.assign({}, pool));
  EXPECT_EQ(list.span().size(), 0U);
}

TEST(Segments, segments_copy__between_different_cuts) {
  BufferPool pool(1 << 20);
  Random random(4);
  for (int round = 0; round < 50; round++) {
    std::vector<std::byte> from(200), to(200);
    for (auto& b : from) b = static_cast<std::byte>(random.next());
    const auto cut = [&](std::vector<std::byte>& memory) {
      std::vector<Segment> pieces;
      std::size_t at = 0;
      while (at < memory.size()) {
        const std::size_t n = std::min<std::size_t>(random.below(40), memory.size() - at);
        pieces.push_back({n ? &memory[at] : nullptr, static_cast<std::uint32_t>(n)});
        at += n;
      }
      return pieces;
    };
    SegmentList a, b;
    ASSERT_TRUE(a.assign(cut(from), pool));
    ASSERT_TRUE(b.assign(cut(to), pool));
    const std::size_t length = random.below(201);
    segments_copy(a, b, length);
    EXPECT_TRUE(std::equal(from.begin(), from.begin() + static_cast<long>(length), to.begin()));
    EXPECT_TRUE(std::all_of(to.begin() + static_cast<long>(length), to.end(),
                            [](std::byte x) { return x == std::byte{0}; }));
    a.clear(pool);
    b.clear(pool);
  }
}

TEST(Seqnum, arithmetic__wraps_inside_14_bits) {
  EXPECT_EQ(seq_add(0x3FFF, 1), 0);
  EXPECT_EQ(seq_add(0x7FFF, 1), 0x4000);
  EXPECT_EQ(seq_add(0xC001, 0x3FFF), 0xC000);
  EXPECT_EQ(seq_diff(0, 0x3FFF), 1U);
  EXPECT_EQ(seq_diff(0x3FFF, 0), 0x3FFFU);
  EXPECT_EQ(seq_diff(0x4005, 0x0003), 2U);
  EXPECT_EQ(seq_next_session(0xC123), 0x0123);
  EXPECT_TRUE(seq_same_session(0x4000, 0x7FFF));
  EXPECT_FALSE(seq_same_session(0x4000, 0x8000));
}

TEST(Timer, heap__pops_in_order_after_random_changes) {
  TimerHeap heap;
  Random random(2);
  std::vector<std::unique_ptr<Timer>> timers;
  for (int i = 0; i < 200; i++) timers.push_back(std::make_unique<Timer>(TimerKind::ack));
  for (int round = 0; round < 50; round++) {
    for (int i = 0; i < 300; i++) {
      Timer& t = *timers[random.below(timers.size())];
      if (random.chance(0.3)) {
        heap.cancel(t);
        EXPECT_FALSE(t.armed());
      } else {
        const TimeNs before = heap.deadline(t);
        const TimeNs deadline = random.below(1000);
        heap.arm_by(t, deadline);
        EXPECT_EQ(heap.deadline(t), std::min(before, deadline));
      }
    }
    std::size_t armed = 0;
    TimeNs least = kNever;
    for (auto& t : timers) {
      armed += t->armed();
      least = std::min(least, heap.deadline(*t));
    }
    EXPECT_EQ(heap.next(), least);
    EXPECT_EQ(least > 0 ? heap.pop_due(least - 1) : nullptr, nullptr);
    TimeNs last = 0;
    for (;;) {
      const TimeNs next = heap.next();
      Timer* const t = heap.pop_due(1000);
      if (!t) break;
      EXPECT_GE(next, last);
      last = next;
      EXPECT_FALSE(t->armed());
      EXPECT_EQ(heap.deadline(*t), kNever);
      armed--;
    }
    EXPECT_EQ(armed, 0U);
    EXPECT_EQ(heap.next(), kNever);
  }
}

TEST(Timer, arm_by__never_arms_nothing) {
  TimerHeap heap;
  Timer t(TimerKind::pull);
  heap.arm_by(t, kNever);
  EXPECT_FALSE(t.armed());
  heap.cancel(t);
}

}  // namespace
}  // namespace omx::protocol
