// SPDX-License-Identifier: BSD-3-Clause
// Two hosts whose processors are busy with other work most of the time, on a cable without losses. Late
// packets must not count as lost. Packets that are lost must still be missed.
#include <cstring>
#include <vector>

#include "base/random.h"
#include "pair_world.h"

namespace omx::simulation {
namespace {

using protocol::Completion;
using protocol::Counter;
using protocol::kMillisecond;
using protocol::RequestKind;
using protocol::Segment;
using protocol::Status;

// Sends one message after the other, back and forth.
class Starved : public testing::Test {
 protected:
  struct Slot final : EventTarget {
    Starved* test = nullptr;
    std::uint32_t host = 0;
    void on_event(std::uint64_t) override { test->turn(*this); }
  };

  void begin(std::uint32_t mtu, std::uint32_t length) {
    pair_ = std::make_unique<PairWorld>(PairKind{}, mtu);
    ASSERT_TRUE(pair_->connect_both());
    pair_->world.run_for(kSecond);
    for (auto& data : data_) data.assign(length, std::byte{1});
    pair_->world.on_activity([this](SimHost& host) { reap(host.index()); });
  }
  // Gives both hosts the processor for `runs`, and takes it for `waits`, on average.
  void starve(TimeNs runs, TimeNs waits) {
    starves_ = true;
    runs_ = runs;
    waits_ = waits;
    for (std::uint32_t i = 0; i < 2; i++) {
      slots_[i].test = this;
      slots_[i].host = i;
      pair_->world.schedule(pair_->world.now() + random_.below(runs), slots_[i], 0);
    }
  }
  void feed() { starves_ = false; }
  // Acts as the scheduler: some time on the processor, some time off it.
  void turn(Slot& slot) {
    SimHost& host = pair_->world.host(slot.host);
    const bool runs = host.paused() || !starves_;
    if (runs)
      host.resume();
    else
      host.pause();
    if (!starves_) return;
    const TimeNs most = 2 * (runs ? runs_ : waits_);
    pair_->world.schedule(pair_->world.now() + 1 + random_.below(most), slot, 0);
    if (runs) start(slot.host);
  }
  // Sends the message that this host owes.
  void start(std::uint32_t host) {
    if (!owed_[host]) return;
    owed_[host] = false;
    const Segment segment{data_[host].data(), static_cast<std::uint32_t>(data_[host].size())};
    protocol::ReceiveOp receive;
    receive.segments = {&segment, 1};
    receive.match_mask = 0;
    ASSERT_TRUE(pair_->engine(host).receive(pair_->clock(host), receive).has_value());
    protocol::SendOp send;
    send.peer = pair_->peer_of(host);
    send.segments = {&segment, 1};
    ASSERT_TRUE(pair_->engine(host).send(pair_->clock(host), send).has_value());
    pair_->world.host(host).deadline_check();
  }
  void reap(std::uint32_t host) {
    while (protocol::Request* r = pair_->engine(host).peek_done()) {
      const Completion c = pair_->engine(host).consume(r);
      ASSERT_EQ(c.status, Status::success);
      if (c.kind != RequestKind::receive) continue;
      owed_[host] = ++received_ < messages_;
      start(host);
    }
  }
  // Returns how long `messages` take.
  TimeNs exchange(std::uint64_t messages) {
    const TimeNs begin = pair_->world.now();
    received_ = 0;
    messages_ = messages;
    owed_[0] = true;
    protocol::ReceiveOp receive;
    const Segment segment{data_[1].data(), static_cast<std::uint32_t>(data_[1].size())};
    receive.segments = {&segment, 1};
    receive.match_mask = 0;
    EXPECT_TRUE(pair_->engine(1).receive(pair_->clock(1), receive).has_value());
    if (!pair_->world.host(0).paused()) start(0);
    EXPECT_TRUE(pair_->world.run_until([&] { return received_ >= messages; }, 1000 * kSecond));
    return pair_->world.now() - begin;
  }
  std::uint64_t count(Counter id) { return pair_->count(0, id) + pair_->count(1, id); }

  std::unique_ptr<PairWorld> pair_;
  Random random_{7};
  TimeNs runs_ = 0, waits_ = 0;
  bool starves_ = false;
  Slot slots_[2];
  std::vector<std::byte> data_[2];
  bool owed_[2] = {};
  std::uint64_t received_ = 0, messages_ = 0;
};

// Repetitions cost both sides time that they lack. A window that shrinks because of them makes many rounds of
// few messages, and in each round both hosts must have run.
TEST_F(Starved, late__is_not_asked_for_again) {
  struct {
    std::uint32_t mtu, length;
    double stops;  // stops in the middle of an answer
  } const cases[] = {{1500, 1 << 20, 0},     {1500, 4 << 20, 0},     {9000, 1 << 20, 0},
                     {9000, 1 << 20, 0.002}, {1500, 1 << 20, 0.001}, {1500, 4 << 20, 0.001}};
  for (const auto& c : cases) {
    begin(c.mtu, c.length);
    exchange(10);
    const std::uint64_t needed = count(Counter::send_pull_request);
    starve(3 * kMillisecond, 9 * kMillisecond);
    pair_->world.faults().plan.spike = c.stops;
    pair_->world.faults().plan.spike_most = 18 * kMillisecond;
    exchange(100);
    EXPECT_LE(count(Counter::pull_rerequest_timer), 10U) << c.length << " bytes, MTU " << c.mtu;
    EXPECT_LE(count(Counter::resend_timeout), 10U) << c.length << " bytes, MTU " << c.mtu;
    EXPECT_LE(count(Counter::send_pull_request), 12 * needed) << c.length << " bytes, MTU " << c.mtu;
  }
}

TEST_F(Starved, lost__is_missed_no_later) {
  constexpr std::uint64_t kMessages = 3000;  // fewer lose so few frames that their luck decides
  for (const std::uint32_t length : {64U << 10, 1U << 20}) {
    begin(1500, length);
    pair_->world.faults().plan.loss = 0.01;
    const TimeNs fed = exchange(kMessages);
    pair_->world.faults().plan.loss = 0;
    starve(3 * kMillisecond, 9 * kMillisecond);
    exchange(30);
    feed();
    pair_->world.run_for(2 * kSecond);
    pair_->world.faults().plan.loss = 0.01;
    EXPECT_LE(exchange(kMessages), fed + fed / 2) << length << " bytes";
  }
}

// A sender answers in the order in which it was asked, so a receiver that is not the first waits longer.
TEST(Queued, behind_others__is_not_asked_for_again) {
  PairWorld pair(PairKind{}, 1500, 100'000'000);
  ASSERT_TRUE(pair.connect_both());
  pair.world.run_for(kSecond);
  constexpr unsigned kMessages = 4;
  std::vector<std::byte> data(45'000);
  const Segment segment{data.data(), static_cast<std::uint32_t>(data.size())};
  unsigned received = 0;
  pair.world.on_activity([&](SimHost& host) {
    while (protocol::Request* r = host.engine().peek_done())
      received += host.engine().consume(r).kind == RequestKind::receive;
  });
  for (unsigned i = 0; i < kMessages; i++) {
    protocol::ReceiveOp receive;
    receive.segments = {&segment, 1};
    ASSERT_TRUE(pair.engine(1).receive(pair.clock(1), receive).has_value());
    protocol::SendOp send;
    send.peer = pair.peer_of(0);
    send.segments = {&segment, 1};
    ASSERT_TRUE(pair.engine(0).send(pair.clock(0), send).has_value());
  }
  pair.world.host(0).deadline_check();
  EXPECT_TRUE(pair.world.run_until([&] { return received == kMessages; }, kSecond));
  EXPECT_EQ(pair.count(1, Counter::pull_rerequest_timer), 0U);
}

}  // namespace
}  // namespace omx::simulation
