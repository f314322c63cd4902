// SPDX-License-Identifier: BSD-3-Clause
// The steps of the workload churn.
#include "simulation/engine/churn.h"

#include <fmt/format.h>

#include "protocol/state/peer.h"
#include "simulation/engine/churn_recovery.h"

namespace omx::simulation {

namespace {

using protocol::kMillisecond;
using protocol::RequestKind;

constexpr std::uint32_t kKey = 0x6b6579;

RandomNetwork churn_network(std::uint64_t seed) {
  RandomNetwork network = random_network(seed, kKey);
  const TimeNs timeout = Random(seed ^ 0xdea7).chance(0.5) ? 30 * kSecond : 60 * kSecond;
  for (HostOptions& host : network.hosts) {
    protocol::Config& c = host.config;
    c.reliability.peer_timeout = timeout;
    // Without parking, a message without room holds up all messages behind it until the application receives.
    if (!c.parks || c.mode != wire::Mode::omx) c.buffer_bytes = protocol::Config{}.buffer_bytes;
  }
  return network;
}

class Churn final : public ChurnRecovery {
 public:
  explicit Churn(const RunOptions& options) : ChurnRecovery(options, churn_network(options.seed), kKey) {}

 private:
  void act() override;
  void step();
  void send_something(std::uint32_t host, std::uint32_t to);
  void cancel_something();
};

void Churn::send_something(std::uint32_t host, std::uint32_t to) {
  const Instance::View& known = instance(host).views[to];
  SendWish wish;
  // Address a peer that this host connected to, or any peer that connected to this host.
  protocol::Peer* peer = known.peer;
  if (random_.chance(0.5)) {
    peer = engine(host).find_peer(World::nic_of(to), 0);
  } else if (peer && random_.chance(0.3)) {
    wish.session = known.session;
  }
  if (!peer) return;
  wish.length = length_choose(random_, largest_);
  wish.synchronous = random_.chance(0.1);
  wish.forgotten = random_.chance(0.1);
  send(host, to, peer, wish);
}

void Churn::cancel_something() {
  if (operations_.empty()) return;
  Operation& o = *operations_[random_.below(operations_.size())];
  if (o.kind != RequestKind::receive || o.ended || !o.request || o.instance->crashed()) return;
  if (world_.host(o.host).paused()) return;
  cancel(o, random_.chance(0.5));
}

void Churn::step() {
  const std::uint32_t host = any_host(), other = any_host();
  const std::uint64_t what = random_.below(1000);
  if (!world_.host(host).alive()) {
    if (random_.chance(0.2)) restart(host);
  } else if (world_.host(host).paused()) {  // its application makes no calls
    if (random_.chance(0.1)) resume(host);
  } else if (what < 440) {
    send_something(host, random_.chance(0.05) ? host : other);
  } else if (what < 830) {
    receive(host, random_.chance(0.1));
  } else if (what < 870) {
    cancel_something();
  } else if (what < 945) {
    if (host == other) return;
    connect(host, other, random_.chance(0.2));
    // Sometimes both sides connect at once.
    const bool able = world_.host(other).alive() && !world_.host(other).paused();
    if (able && random_.chance(0.3)) connect(other, host, false);
  } else if (what < 955) {
    if (host != other) disconnect(host, other);
  } else if (what < 975) {
    pause(host);
  } else if (what < 980) {
    random_.chance(0.5) ? crash(host) : restart(host);
  } else if (what < 985) {
    network_regroup();
  } else if (what < 992) {
    run_for(random_.below(30) * kMillisecond);
  } else if (what < 996) {
    run_for(random_.below(5) * kSecond);
  } else if (what < 999) {
    run_for(random_.below(timeout_ + timeout_ / 2));
  }
  reap_all();
  if (random_.chance(0.3)) run_for(random_.below(100'000));
}

void Churn::act() {
  for (std::uint32_t i = 0; i < hosts(); i++)
    for (std::uint32_t j = 0; j < hosts(); j++)
      if (i != j) connect(i, j, false);
  reap_all();
  run_for(random_.below(2000) * 1000);
  for (std::uint32_t i = 0; i < options_.operations && !failed(); i++) step();
  if (!failed()) recover();
}

}  // namespace

RunResult churn_run(const RunOptions& options) {
  Churn run(options);
  return run.run();
}

}  // namespace omx::simulation
