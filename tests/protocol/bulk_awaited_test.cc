// SPDX-License-Identifier: BSD-3-Clause
// When a sleeping receiver is woken for frames by the bulk path (docs/reference/wire.md 15): before the end,
// and in the middle of a long message.
#include "protocol/state/bulk_awaited.h"
#include "protocol/actions/pull_schedule.h"
#include "protocol/state/pull_slots.h"
#include "tests/protocol/support.h"
#include "wire/codec.h"

namespace omx::protocol::test {
namespace {

constexpr std::uint32_t kMtu = 9000;
const std::size_t kBatch = wire::gso_batch_frames(kMtu - 28);

class BulkAnnounceTest : public PairTest {
 protected:
  void SetUp() override {
    const auto config = [](std::uint8_t host) {
      Config c = with_bulk(host, kMtu);
      c.bulk.window = 2 << 20;
      return c;
    };
    open(config(1), config(2));
    exchange(*a, to_b, *b, 100000);
    ASSERT_TRUE(to_a->bulk.in);
    (*b)->set_sleeping(network.now, true);
    network.faults.drop = [this](const Bytes& frame) {
      note(frame);
      return false;
    };
  }

  static bool is_announcement(const Bytes& frame) {
    wire::Probe packet;
    return type_of(frame) == wire::PacketType::probe &&
           wire::decode_probe(frame, packet) == wire::Drop::none && (packet.flags & wire::kFlagBulkProbe);
  }
  static wire::PacketType type_of(const Bytes& frame) {
    wire::Head head;
    return wire::decode_head(frame, head) == wire::Drop::none ? head.type : wire::PacketType::none;
  }
  // Notes "r" for a reply and "!" for an announcement, in the order in which they were sent.
  void note(const Bytes& frame) {
    if (type_of(frame) == wire::PacketType::pull_reply) {
      if (sent.ends_with('!')) left_at_once = a->flushes > flushes;
      sent += 'r';
    } else if (is_announcement(frame)) {
      sent += '!';
      flushes = a->flushes;
    }
  }
  std::size_t rings() const { return static_cast<std::size_t>(std::count(sent.begin(), sent.end(), '!')); }
  // Returns the number of replies behind the last announcement.
  std::size_t after_last() const { return sent.size() - 1 - sent.rfind('!'); }

  std::string sent;
  std::uint32_t flushes = 0;  // at the last announcement
  bool left_at_once = false;
};

TEST(BulkAnnouncedBefore, at_the_beginning_of_a_batch_and_long_enough_before_the_end) {
  for (const std::uint32_t unit : {1408U, 8928U, 65400U}) {
    const std::uint32_t batch = std::max(wire::gso_batch_frames(unit + 48), 1U);
    for (std::uint32_t frames = 1; frames <= 64; frames++) {
      const std::uint32_t before = wire::bulk_announced_before(frames, batch, unit);
      ASSERT_LT(before, frames);
      EXPECT_EQ(before % batch, 0U);
      EXPECT_TRUE(before == 0 || (frames - before) * unit >= 160U * 1024);
      EXPECT_LE((frames - before) * unit, (160U * 1024) + (batch + 1) * unit);
    }
  }
}

TEST_F(BulkAnnounceTest, the_end_is_announced_ahead_of_its_last_frames) {
  exchange(*a, to_b, *b, 300000);
  ASSERT_EQ(rings(), 1U) << sent;
  EXPECT_GE(after_last(), 160U * 1024 / 9000);
  EXPECT_LE(after_last(), 160U * 1024 / 8900 + kBatch);
}

// A link sends bulk path frames before frames of its own. Without a flush a sleeping receiver would be woken
// only at the end.
TEST_F(BulkAnnounceTest, an_announcement_does_not_wait_for_what_follows_it) {
  exchange(*a, to_b, *b, 300000);
  ASSERT_EQ(rings(), 1U) << sent;
  EXPECT_TRUE(left_at_once);
}

TEST_F(BulkAnnounceTest, a_long_message_is_announced_midway_too) {
  exchange(*a, to_b, *b, 1 << 20);
  EXPECT_EQ(rings(), 2U) << sent;
  const std::size_t first = sent.find('!'), replies = sent.size() - 2;
  // A quarter of the message, announced 160 KiB before its end.
  EXPECT_GT(first, 0U);
  EXPECT_LT(first, replies / 4);
}

TEST_F(BulkAnnounceTest, messages_in_a_row_do_not) {
  constexpr std::size_t kMessages = 6, kLength = 1 << 20;
  std::vector<Request*> receives;
  for (std::size_t i = 0; i < kMessages; i++) {
    receives.push_back(receive(*b, room(kLength), i));
    send(*a, to_b, message(kLength, i), i);
  }
  for (Request* r : receives) EXPECT_EQ(wait(*b, r).status, Status::success);
  EXPECT_LE(rings(), kMessages + 2) << sent;
  EXPECT_GE(rings(), 1U) << sent;
}

// The answer was announced before all of it came, and nothing else would wake a sleeping receiver then.
TEST_F(BulkAnnounceTest, an_announced_answer_is_awaited_until_it_is_whole) {
  network.faults.hold_bulk = true;
  Bytes& in = room(300000);
  Request* r = receive(*b, in, 5);
  send(*a, to_b, message(300000), 5);
  ASSERT_TRUE(network.run_until([&] { return rings() == 1; }, kSecond));
  network.run_for(10'000);
  const auto held = network.held;
  ASSERT_GT(held.size(), 2 * kBatch);
  for (std::size_t i = 0; i < held.size(); i++) {
    ASSERT_TRUE((*b)->bulk_awaited(network.now)) << i << " of " << held.size();
    network.inject(held[i]);
    network.run_for(6'000);
    (*b)->bulk_came();
  }
  EXPECT_FALSE((*b)->bulk_awaited(network.now));
  EXPECT_EQ(wait(*b, r).status, Status::success);
}

// On a slow cable the announcement of a medium message overtakes its data each time. A message that came
// after its announcement must not be taken for one whose announcement is still to come.
class BulkAnnouncedFirst : public BulkAnnounceTest {
 protected:
  // Sends messages whose data come some time after their announcements. One announcement may be lost.
  void exchange_all(std::uint64_t lost) {
    (*b)->set_sleeping(network.now, false);
    network.faults.hold_bulk = true;
    network.faults.drop = [lost, n = std::uint64_t{0}](const Bytes& frame) mutable {
      return is_announcement(frame) && n++ == lost;
    };
    for (std::uint64_t i = 0; i < 6; i++) {
      Request* r = receive(*b, room(30000), i);
      send(*a, to_b, message(30000), i);
      network.run_for(200'000);
      EXPECT_EQ((*b)->bulk_awaited(network.now), i != lost) << i;
      for (const Bytes& frame : std::exchange(network.held, {})) network.inject(frame);
      network.run_for(10'000);
      (*b)->bulk_came();
      EXPECT_EQ(wait(*b, r).status, Status::success);
      EXPECT_FALSE((*b)->bulk_awaited(network.now)) << i;
    }
  }
};

TEST_F(BulkAnnouncedFirst, they_are_heard_each_time) {
  exchange_all(99);
}

TEST_F(BulkAnnouncedFirst, they_are_heard_after_one_was_lost) {
  exchange_all(2);
}

TEST_F(BulkAnnounceTest, an_announcement_that_comes_late_is_of_no_interest) {
  network.faults.late = [](const Bytes& frame) { return is_announcement(frame) ? TimeNs{100'000} : 0; };
  exchange(*a, to_b, *b, 300000);
  (*b)->bulk_came();
  ASSERT_FALSE((*b)->bulk_awaited(network.now));
  network.run_for(150'000);
  ASSERT_EQ(rings(), 1U);
  EXPECT_FALSE((*b)->bulk_awaited(network.now));
}

// The data of a pull are held back, so that the pull runs and all its answers are missing.
class BulkAnswerTest : public BulkAnnounceTest {
 protected:
  void SetUp() override {
    BulkAnnounceTest::SetUp();
    network.faults.hold_bulk = true;
    incoming = receive(*b, room(300000), 5);
    send(*a, to_b, message(300000), 5);
    EXPECT_TRUE(network.run_until([&] { return rings() == 1; }, kSecond));
    network.run_for(10'000);
    pull = find_pull();
    ASSERT_NE(pull, nullptr);
    network.run_for(
        1'100'000);  // the announced frames are no longer awaited, and no request was repeated yet
    state().bulk.awaited = {};
  }
  State& state() { return (*b)->state(); }
  Pull* find_pull() {
    for (std::uint32_t slot = 0; slot < 1024; slot++)
      if (Pull* found = pull_of_slot(state(), slot << 22)) return found;
    return nullptr;
  }
  void announce(Peer& from, std::uint32_t answer) {
    state().now = network.now;
    bulk_announced(state(), from, answer);
  }
  void others_came() {
    state().now = network.now;
    (*b)->bulk_came();
  }
  bool awaited() { return (*b)->bulk_awaited(network.now); }
  std::uint32_t answer_until(std::uint32_t frame) const { return wire::bulk_answer(pull->handle, frame); }

  Request* incoming = nullptr;
  Pull* pull = nullptr;
};

TEST_F(BulkAnswerTest, none_that_nobody_asked_for) {
  for (const std::uint32_t answer : {1U, 0xFFC00000U, 0xFFFFFFFFU, answer_until(pull->frames + 300)}) {
    if (answer == answer_until(0)) continue;
    announce(*to_a, answer);
    EXPECT_FALSE(awaited()) << std::hex << answer;
  }
}

TEST_F(BulkAnswerTest, none_to_a_pull_from_somebody_else) {
  Peer other;
  other.bulk.address = to_a->bulk.address;
  announce(other, answer_until(0));
  EXPECT_FALSE(awaited());
  announce(*to_a, answer_until(0));
  EXPECT_TRUE(awaited());
}

// A request for a part of a block, as in a repetition.
TEST_F(BulkAnswerTest, one_that_ends_within_a_block) {
  const PullBlock& block = pull->block(0);
  ASSERT_GT(block.frames, 3U);
  announce(*to_a, answer_until(block.first + 2));
  EXPECT_TRUE(awaited());
}

TEST_F(BulkAnswerTest, each_once) {
  for (int i = 0; i < 20; i++) announce(*to_a, answer_until(pull->block(0).first + 2));
  EXPECT_EQ(state().bulk.awaited.answer_count, 1U);
}

// A receiver without room for more announcements waits for all frames that may come, until the time is over.
TEST_F(BulkAnswerTest, more_than_there_is_room_for) {
  const PullBlock& block = pull->block(1);
  ASSERT_GT(block.frames, 12U);
  for (std::uint32_t i = 0; i < 12; i++) announce(*to_a, answer_until(block.first + i));
  EXPECT_TRUE(state().bulk.awaited.more);
  others_came();
  EXPECT_TRUE(awaited());
  network.run_for(1'100'000);
  EXPECT_FALSE(awaited());
}

// The data of one pull do not come, while those of others do.
TEST_F(BulkAnswerTest, waiting_ends_though_others_send) {
  announce(*to_a, answer_until(0));
  for (int i = 0; i < 4; i++) {
    network.run_for(300'000);
    others_came();
  }
  EXPECT_FALSE(awaited());
}

TEST_F(BulkAnswerTest, none_by_a_bulk_that_failed) {
  to_a->bulk.in = false;
  announce(*to_a, answer_until(0));
  EXPECT_FALSE(awaited());
}

// For a peer without the feature, the announcement follows the answer and names none. It waits for one poll
// at most.
TEST_F(BulkAnnounceTest, who_does_not_know_it_is_not_told_ahead) {
  to_b->agreed.features &= static_cast<std::uint16_t>(~wire::kFeatureAhead);
  exchange(*a, to_b, *b, 300000);
  ASSERT_EQ(rings(), 1U) << sent;
  EXPECT_EQ(after_last(), 0U) << sent;
}

// All of a message that can be requested at once is requested, whether a wake-up comes half-way or not.
TEST_F(BulkAnnounceTest, an_announcement_midway_costs_no_turn) {
  std::size_t midway = 0;
  PeerPulls pulls(*to_a);
  to_a->rx.pulls = &pulls;
  for (std::size_t length = 260'000; length < 2'000'000; length += 37'000) {
    for (const std::uint32_t blocks : {1U, 2U, 4U}) {
      Pull p;
      State& s = (*b)->state();
      p.peer = to_a;
      p.by_bulk = true;
      p.unit = 1440;
      p.length = static_cast<std::uint32_t>(length);
      p.frames = (p.length + p.unit - 1) / p.unit;
      p.blocks_max = blocks;
      pull_ring_midway(s, p);
      if (p.rings_at == 0) continue;
      midway++;
      const std::uint32_t most = std::min(64U, 256 / blocks);
      const std::uint32_t requests =
          (p.rings_at + most - 1) / most + (p.frames - p.rings_at + most - 1) / most;
      EXPECT_LE(requests, blocks) << length;
    }
  }
  EXPECT_GT(midway, 0U);
  to_a->rx.pulls = nullptr;
}

}  // namespace
}  // namespace omx::protocol::test
