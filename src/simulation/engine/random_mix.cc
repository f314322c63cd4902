// SPDX-License-Identifier: BSD-3-Clause
#include "simulation/engine/random_mix.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "simulation/engine/workload.h"

namespace omx::simulation {

namespace {

using protocol::kMillisecond;
using protocol::RequestKind;

constexpr std::uint32_t kKey = 0x6b6579;
// Legacy peers repeat twice a second, and a wide hole takes them many rounds.
constexpr TimeNs kSettleLimit = 4000 * kSecond;
// If all hosts have the extension.
constexpr TimeNs kSettleLimitExtended = 60 * kSecond;

class RandomMix final : public Workload {
 public:
  RandomMix(const RunOptions& options, RandomNetwork network) : Workload(options, std::move(network), kKey) {}

 private:
  void act() override;
  void connect_all();
  void step();
  void send_something(std::uint32_t host, std::uint32_t to);
  void cancel_something();
  void pause();
  bool all_ended() const;
  void settle();
};

void RandomMix::send_something(std::uint32_t host, std::uint32_t to) {
  protocol::Peer* peer = host == to ? engine(host).self() : instance(host).views[to].peer;
  if (!peer) return;
  SendWish wish;
  wish.length = length_choose(random_, largest_);
  wish.synchronous = random_.chance(0.1);
  wish.forgotten = random_.chance(0.1);
  send(host, to, peer, wish);
}

void RandomMix::cancel_something() {
  if (operations_.empty()) return;
  Operation& o = *operations_[random_.below(operations_.size())];
  if (o.kind != RequestKind::receive || o.ended || !o.request) return;
  cancel(o, random_.chance(0.5));
}

void RandomMix::pause() {
  SimHost& host = world_.host(any_host());
  host.paused() ? host.resume() : host.pause();
}

void RandomMix::step() {
  const std::uint32_t host = any_host(), other = any_host();
  const std::uint64_t what = random_.below(100);
  if (what < 48) {
    send_something(host, random_.chance(0.05) ? host : other);
  } else if (what < 90) {
    receive(host, random_.chance(0.1));
  } else if (what < 94) {
    cancel_something();
  } else if (what < 96) {
    pause();
  } else if (what < 98 && host != other) {
    connect(host, other, random_.chance(0.3));
  } else if (what == 99) {
    world_.run_for(random_.below(30) * kMillisecond);
  }
  reap_all();
  if (random_.chance(0.3)) world_.run_for(random_.below(100'000));
}

void RandomMix::connect_all() {
  for (std::uint32_t i = 0; i < hosts(); i++)
    for (std::uint32_t j = 0; j < hosts(); j++)
      if (i != j) connect(i, j, false);
  reap_all();
  // Some connections may still be incomplete when the first messages are sent.
  world_.run_for(random_.below(2000) * 1000);
}

bool RandomMix::all_ended() const {
  if (failed()) return true;
  const auto over = [](const auto& o) { return o->ended || o->kind == RequestKind::receive; };
  return std::all_of(undelivered_.begin(), undelivered_.end(), [](std::uint64_t n) { return n == 0; }) &&
         std::all_of(operations_.begin(), operations_.end(), over);
}

// Receives everything that was sent. Then nothing may be missing.
void RandomMix::settle() {
  for (std::uint32_t i = 0; i < hosts(); i++) world_.host(i).resume();
  const TimeNs patience = relaxed() ? kSettleLimit : kSettleLimitExtended;
  // Post wildcard receives one round at a time: a waiting receive may take a message that another was posted
  // for.
  for (TimeNs waited = 0; waited < patience && !all_ended(); waited += kSecond) {
    for (std::uint32_t i = 0; i < hosts(); i++) {
      for (std::uint64_t n = instance(i).matching.messages(); n > 0; n--) receive(i, true);
      // Hosts with little memory refuse messages for which no receive waits.
      for (std::uint64_t n = std::min<std::uint64_t>(undelivered_[i], 4); n > 0; n--) receive(i, true);
    }
    reap_all();
    world_.run_until([this] { return all_ended(); }, kSecond);
  }
  if (failed()) return;
  for (std::uint32_t i = 0; i < hosts(); i++) {
    if (undelivered_[i] > 0)
      fail(fmt::format("{} messages to host {} were never delivered", undelivered_[i], i));
  }
  for (const auto& o : operations_) {
    if (!o->ended && o->kind != RequestKind::receive)
      fail(fmt::format("{} {} of host {} never ended", o->kind == RequestKind::send ? "send" : "connect",
                       o->id, o->host));
  }
  receives_cancel();
}

void RandomMix::act() {
  connect_all();
  for (std::uint32_t i = 0; i < options_.operations && !failed(); i++) step();
  if (!failed()) settle();
  if (failed()) return;
  world_.run_for(600 * kSecond);  // a lost MTU probe is repeated twice a minute
  // A path narrower than the MTU is probed again from time to time.
  leftovers(network_.world.path_mtu == 0);
}

}  // namespace

RunResult random_mix_run(const RunOptions& options) {
  RandomMix run(options, random_network(options.seed, kKey));
  return run.run();
}

RunResult congestion_run(const RunOptions& options) {
  RandomNetwork network = random_network(options.seed, kKey);
  random_congestion(options.seed, network);
  RandomMix run(options, std::move(network));
  return run.run();
}

}  // namespace omx::simulation
