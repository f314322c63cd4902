// SPDX-License-Identifier: BSD-3-Clause
// The view of an engine that other processes have.
#include "protocol/snapshot.h"
#include "protocol/history.h"

#include <algorithm>

#include "tests/protocol/support.h"

namespace omx::protocol::test {
namespace {

class SnapshotTest : public PairTest {
 protected:
  const Snapshot& look(Host& host) {
    host->snapshot(network.now, snapshot_);
    return snapshot_;
  }
  static std::size_t count(const Snapshot& s, PendingRow::What what) {
    return static_cast<std::size_t>(std::count_if(s.pending.begin(), s.pending.begin() + s.pending_rows,
                                                  [&](const PendingRow& row) { return row.what == what; }));
  }
  static std::vector<Happened> last(const History& history, std::size_t n) {
    std::vector<Happened> events;
    for (std::uint64_t i = history.count - std::min<std::uint64_t>(n, history.count); i < history.count; i++)
      events.push_back(history.events[i % History::kEvents].what);
    return events;
  }

 private:
  Snapshot snapshot_;
};

TEST_F(SnapshotTest, nothing_pending) {
  open();
  exchange(*a, to_b, *b, 100);
  exchange(*a, to_b, *b, 100000);
  network.run_for(kSecond);
  const Snapshot& s = look(*a);
  EXPECT_EQ(s.at, network.now);
  EXPECT_EQ(s.pending_rows, 0U);
  EXPECT_FALSE(s.pending_cut);
  ASSERT_EQ(s.peer_rows, 1U);
  EXPECT_EQ(s.peer[0].nic, (*b)->config().nic);
  EXPECT_TRUE(s.peer[0].connected);
  EXPECT_EQ(s.peer[0].messages_sent, 2U);
  EXPECT_EQ(s.peer[0].bytes_sent, 100100U);
  const Snapshot& t = look(*b);
  ASSERT_EQ(t.peer_rows, 1U);
  EXPECT_EQ(t.peer[0].messages_received, 2U);
  EXPECT_EQ(t.peer[0].bytes_received, 100100U);
}

// In this network an answer takes some time. One that came within a turn would seem to take none.
TEST_F(SnapshotTest, round_trips__are_shown_once_they_are_measured) {
  open();
  exchange(*a, to_b, *b, 100);
  const Snapshot& s = look(*a);
  ASSERT_EQ(s.peer_rows, 1U);
  EXPECT_EQ(s.peer[0].round_trip, to_b->tx.trip.smoothed());
  EXPECT_EQ(s.peer[0].round_trip_least, to_b->tx.trip.least());
  EXPECT_GT(s.peer[0].round_trip_least, 0U);
  to_b->tx.trip = {};
  EXPECT_EQ(look(*a).peer[0].round_trip_least, 0U);
  to_b->tx.trip.measured(network.now, 1);
  EXPECT_EQ(look(*a).peer[0].round_trip, 0U);
  EXPECT_EQ(look(*a).peer[0].round_trip_least, 0U);
  EXPECT_EQ(look(*a).pull[0].round_trip, 0U) << "nothing was asked for";
  EXPECT_EQ(look(*a).pull[0].round_trip_least, 0U);
}

TEST_F(SnapshotTest, what_is_pending) {
  open();
  Request* posted = receive(*b, room(50), 5, 0xFF);
  Bytes& text = message(20);
  send(*a, to_b, text, 9);
  Request* large = send(*a, to_b, message(500000), 7);
  network.run_for(kSecond);
  const Snapshot& s = look(*b);
  EXPECT_EQ(s.posted, 1U);
  EXPECT_EQ(s.unexpected, 2U);
  ASSERT_EQ(s.pending_rows, 3U);
  EXPECT_EQ(count(s, PendingRow::What::receive), 1U);
  EXPECT_EQ(count(s, PendingRow::What::message), 2U);
  EXPECT_EQ(s.pending[0].match_info, 5U);
  EXPECT_EQ(s.pending[0].match_mask, 0xFFU);
  EXPECT_EQ(s.pending[0].length, 50U);
  EXPECT_EQ(s.pending[1].match_info, 9U);
  EXPECT_EQ(s.pending[1].length, 20U);
  EXPECT_TRUE(s.pending[1].known_peer);
  EXPECT_EQ(s.peer[0].unexpected_bytes > 0, true);

  const Snapshot& t = look(*a);
  ASSERT_EQ(t.pending_rows, 1U);
  EXPECT_EQ(t.pending[0].what, PendingRow::What::send);
  EXPECT_EQ(t.pending[0].phase, static_cast<std::uint8_t>(Phase::await_notify));
  EXPECT_EQ(t.pending[0].length, 500000U);
  EXPECT_EQ(t.peer[0].unfinished, 1U);
  EXPECT_TRUE((*b)->cancel(posted).value());
  EXPECT_FALSE((*a)->done(large));
}

TEST_F(SnapshotTest, more_than_there_is_room_for) {
  open();
  for (std::size_t i = 0; i < 3 * Snapshot::kPending; i++) receive(*b, room(1), 1000 + i);
  for (std::size_t i = 0; i < 3 * Snapshot::kPending; i++) {
    Bytes& data = message(1);
    (*a)->consume(send(*a, to_b, data, i));
    network.run_for(kMillisecond);
  }
  const Snapshot& s = look(*b);
  EXPECT_EQ(s.posted, 3 * Snapshot::kPending);
  EXPECT_EQ(s.unexpected, 3 * Snapshot::kPending);
  EXPECT_EQ(s.pending_rows, Snapshot::kPending);
  EXPECT_TRUE(s.pending_cut);
  EXPECT_EQ(count(s, PendingRow::What::receive), Snapshot::kPending / 2) << "both kinds are seen";
  EXPECT_EQ(s.pending[0].match_info, 1000U) << "the oldest";
  EXPECT_EQ(s.pending[Snapshot::kPending / 2].match_info, 0U);
}

TEST_F(SnapshotTest, who_is_owed_something_comes_first) {
  open();
  Host& c = network.add({});
  Peer* to_c = connect(network, *a, c);
  ASSERT_NE(to_c, nullptr);
  network.faults.drop = [](const Bytes&) { return true; };
  send(*a, to_b, message(10), 1);
  network.run_for(kSecond);
  const Snapshot& s = look(*a);
  ASSERT_EQ(s.peer_rows, 2U);
  EXPECT_EQ(s.peer[0].nic, (*b)->config().nic);
  EXPECT_EQ(s.peer[0].unacked, 1U);
  EXPECT_GT(s.peer[0].resends, 0U);
  EXPECT_EQ(s.peer[1].unacked, 0U);
}

TEST_F(SnapshotTest, congestion__windows_and_round_trips) {
  open();
  exchange(*a, to_b, *b, 200'000);
  const PullRow pull = look(*b).pull[0];
  EXPECT_EQ(look(*b).pull_rows, 1U);
  EXPECT_EQ(pull.in_flight, 0U);
  EXPECT_GE(pull.window, 16U * 1024);
  EXPECT_GT(pull.round_trip, 0U);
  EXPECT_GT(pull.round_trip_least, 0U);
  EXPECT_FALSE(pull.contended);
  EXPECT_EQ(look(*a).peer[0].window, 0U) << "nothing was lost";
  EXPECT_GT(look(*a).peer[0].round_trip, 0U);
  network.faults.drop = [n = 0](const Bytes& f) mutable {
    return type_of(f) == wire::PacketType::small && ++n % 10 == 0;
  };
  for (std::uint64_t i = 0; i < 50; i++) {
    (void)receive(*b, room(100), 1000 + i);
    (void)send(*a, to_b, message(100), 1000 + i);
  }
  network.run_for(kSecond);
  EXPECT_GT(look(*a).peer[0].window, 0U);
}

TEST_F(SnapshotTest, history) {
  History at_a, at_b;
  Config config_a, config_b;
  config_a.history = &at_a;
  config_b.history = &at_b;
  open(config_a, config_b);
  EXPECT_EQ(at_a.events[0].what, Happened::connect_sent);
  exchange(*a, to_b, *b, 100, 4);
  EXPECT_EQ(last(at_a, 1), std::vector{Happened::sent});
  EXPECT_EQ(last(at_b, 1), std::vector{Happened::matched});
  const Event& sent = at_a.events[(at_a.count - 1) % History::kEvents];
  EXPECT_EQ(sent.match_info, 4U);
  EXPECT_EQ(sent.length, 100U);
  EXPECT_EQ(sent.nic, (*b)->config().nic);

  send(*a, to_b, message(10), 1);
  network.run_for(kMillisecond);
  EXPECT_EQ(last(at_b, 1), std::vector{Happened::unexpected});
  exchange(*a, to_b, *b, 200000, 2);
  EXPECT_EQ(last(at_b, 1), std::vector{Happened::pulled});
  for (std::size_t i = 0; i < 2 * History::kEvents; i++) exchange(*a, to_b, *b, 10, 3);
  EXPECT_EQ(last(at_a, History::kEvents), std::vector(History::kEvents, Happened::sent));
}

TEST_F(SnapshotTest, history_of_a_peer_that_is_gone) {
  History at_a;
  Config config_a;
  config_a.history = &at_a;
  open(config_a);
  network.faults.drop = [](const Bytes&) { return true; };
  Request* r = send(*a, to_b, message(10), 1, true);
  EXPECT_EQ(wait(*a, r).status, Status::endpoint_unreachable);
  EXPECT_EQ(last(at_a, 2), (std::vector{Happened::peer_given_up, Happened::failed}));
  const auto events = last(at_a, History::kEvents);
  EXPECT_NE(std::find(events.begin(), events.end(), Happened::resent), events.end());
}

}  // namespace
}  // namespace omx::protocol::test
