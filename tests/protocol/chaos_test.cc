// SPDX-License-Identifier: BSD-3-Clause
// Three endpoints that restart, disconnect, pause and reconnect at random on a bad cable. Every request ends
// exactly once, no message arrives damaged or twice, and when the chaos is over everybody can talk again.
#include <set>

#include "tests/protocol/support.h"

namespace omx::protocol::test {
namespace {

class Chaos : public PairTest, public testing::WithParamInterface<std::uint64_t> {
 protected:
  static constexpr std::size_t kHosts = 3;

  Config config() {
    Config c;
    c.peer_timeout = 1500 * kMillisecond;
    // Between reference peers restarts and one-sided give-ups need not heal: their CONNECT cannot say who
    // forgot what (docs/wire.md 5). All 5,000 seeds of theirs up to 20,000 do.
    c.extension = GetParam() % 4 != 0;
    c.mtu = GetParam() % 2 ? 9000 : 1500;
    return c;
  }
  Host& host(std::size_t i) { return *network.hosts[i]; }

  // The message says who it is, so that the receiver can check it.
  Bytes& identified(std::uint64_t id, std::size_t length) {
    Bytes& data = message(length, id);
    if (length >= 8) std::memcpy(data.data(), &id, 8);
    return data;
  }
  void reap(std::size_t i) {
    while (Request* r = host(i)->peek_done()) {
      ASSERT_EQ(pending[i].erase(r), 1U) << "completed twice, or never asked for";
      auto* memory = static_cast<Bytes*>(host(i)->context_of(r));
      const Completion c = host(i)->consume(r);
      if (c.kind != RequestKind::receive || c.status != Status::success || c.msg_length < 8) continue;
      std::uint64_t id;
      std::memcpy(&id, memory->data(), 8);
      ASSERT_TRUE(delivered.insert(id).second) << "delivered twice: " << id;
      Bytes expected = pattern(id, c.msg_length);
      std::memcpy(expected.data(), &id, 8);
      ASSERT_TRUE(std::equal(expected.begin(), expected.end(), memory->begin())) << "damaged: " << id;
    }
  }
  void post_send(std::size_t i, Partner* to, Random& random) {
    static const std::size_t kMax[] = {9, 32, 128, 3000, 30000, 60000, 200000};
    Bytes& data = identified(++next_id, 8 + random.below(kMax[random.below(7)]));
    Segment s = segment(data);
    SendOp op;
    op.partner = to;
    op.segments = {&s, 1};
    op.context = &data;
    op.synchronous = random.chance(0.1);
    op.forgotten = random.chance(0.1);
    if (Request* r = host(i)->send(network.now, op).value()) pending[i].insert(r);
  }
  void post_receive(std::size_t i, Random& random) {
    Bytes& data = room(random.chance(0.9) ? 210000 : 1000);
    Segment s = segment(data);
    ReceiveOp op;
    op.segments = {&s, 1};
    op.context = &data;
    op.match_mask = 0;
    pending[i].insert(host(i)->receive(network.now, op).value());
  }

  std::set<Request*> pending[kHosts];
  std::set<std::uint64_t> delivered;
  std::uint64_t next_id = 0;
};

TEST_P(Chaos, random__everything_ends_once_and_heals) {
  Random random(GetParam());
  std::uint32_t session = 0x100;
  for (std::size_t i = 0; i < kHosts; i++) network.add(with_session(session++, config()));
  network.faults.loss = 0.01 * static_cast<double>(random.below(5));
  network.faults.duplicate = 0.01 * static_cast<double>(random.below(3));
  network.faults.reorder = 0.02 * static_cast<double>(random.below(3));
  for (int step = 0; step < 1200; step++) {
    const std::size_t i = random.below(kHosts), j = (i + 1 + random.below(kHosts - 1)) % kHosts;
    Partner* to = host(i)->find_partner(host(j)->config().nic, 0);
    const std::uint64_t what = random.below(1000);
    if (what < 450) {
      if (to) post_send(i, to, random);
    } else if (what < 850) {
      if (pending[i].size() < 60) post_receive(i, random);
    } else if (what < 960) {
      if (Request* r = host(i)->connect(network.now, host(j)->config().nic, 0, 0, 0, nullptr, false).value())
        pending[i].insert(r);
    } else if (what < 970) {
      if (to) host(i)->disconnect(network.now, to);
    } else if (what < 985) {
      host(i).paused = !host(i).paused;
    } else if (what < 990) {
      network.run_for(random.below(4000) * kMillisecond);
    } else if (what < 993) {
      pending[i].clear();
      network.restart(i, with_session(session++, config()));
    }
    network.run_for(random.below(2) ? random.below(300'000) : 0);
    for (std::size_t h = 0; h < kHosts; h++) reap(h);
    ASSERT_FALSE(testing::Test::HasFatalFailure()) << "step " << step;
  }
  // Peace.
  network.faults = {};
  for (std::size_t i = 0; i < kHosts; i++) host(i).paused = false;
  network.run_for(20 * kSecond);
  for (std::size_t i = 0; i < kHosts; i++) {
    reap(i);
    for (auto r = pending[i].begin(); r != pending[i].end();) {
      if ((*r)->kind != RequestKind::receive) {
        r++;
        continue;
      }
      ASSERT_TRUE(*host(i)->cancel(*r)) << "a matched receive that never ends";
      r = pending[i].erase(r);
    }
    for (Request* r : pending[i]) {
      // Only sends to a living endpoint that does not receive may still wait.
      const bool waits =
          r->phase == Phase::await_notify || r->phase == Phase::queued || r->phase == Phase::unacked;
      if (r->kind == RequestKind::connect) ADD_FAILURE() << "a connect that never ends";
      if (r->kind == RequestKind::send) {
        EXPECT_TRUE(waits && r->send_class == SendClass::large)
            << i << " to " << r->partner->index << " phase " << int(r->phase) << " class "
            << int(r->send_class) << " length " << r->msg_length << " number " << r->seqnum << " resends "
            << r->resends << " wanted there? next " << r->partner->next_send << " acked "
            << r->partner->next_acked << " match " << r->partner->next_match << " session "
            << r->partner->true_session << " heard " << (network.now - r->partner->last_heard) / kMillisecond;
        for (std::size_t j = 0; j < kHosts; j++)
          if (host(j)->config().nic == r->partner->nic) {
            Partner* q = host(j)->find_partner(host(i)->config().nic, 0);
            if (q)
              std::cerr << "  there: match " << q->next_match << " session " << q->true_session << "="
                        << host(i)->config().session << " next " << q->next_send << " early "
                        << (q->early ? q->early->frames : 0) << " partial " << q->partial.active << " own "
                        << host(j)->config().session << "\n";
          }
      }
    }
    host(i)->set_unexpected_handler([](void*, const Arrival&) { return HandlerAction::finished; }, nullptr);
    while (const auto arrival = host(i)->probe(0, 0))
      (void)host(i)->receive(network.now, {{}, 0, 0, nullptr, nullptr, true});
  }
  network.run_for(5 * kSecond);
  for (std::size_t i = 0; i < kHosts; i++) host(i)->set_unexpected_handler(nullptr, nullptr);
  for (std::size_t i = 0; i < kHosts; i++)
    for (std::size_t j = 0; j < kHosts; j++)
      if (i != j) {
        ASSERT_NE(connect(network, host(i), host(j)), nullptr) << i << " to " << j;
      }
  for (std::size_t i = 0; i < kHosts; i++) {
    for (std::size_t j = 0; j < kHosts; j++) {
      if (i == j) continue;
      Partner* p = host(i)->find_partner(host(j)->config().nic, 0);
      for (const std::size_t length : {10, 5000, 100000}) exchange(host(i), p, host(j), length, 4321 + i);
      ASSERT_FALSE(testing::Test::HasFailure()) << i << " to " << j;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, Chaos, testing::Range<std::uint64_t>(1, 401));

}  // namespace
}  // namespace omx::protocol::test
