// SPDX-License-Identifier: BSD-3-Clause
// Events in a run of stalls.
#include "simulation/engine/stalls.h"

#include <fmt/format.h>

#include <algorithm>

#include "simulation/engine/stalls_end.h"

namespace omx::simulation {

namespace {

constexpr std::uint32_t kKey = 0x6b6579;

class Stalls final : public StallsEnd, public EventTarget {
 public:
  explicit Stalls(const RunOptions& options);
  RunResult run();
  void on_event(std::uint64_t outage) override;

 private:
  void step();
  void act(std::uint32_t host, std::uint32_t other);
  void outage_begin(std::size_t index);
  void outage_end(std::size_t index);
  void contact_update();
  void life_end(std::uint32_t host);
  void life_begin(std::uint32_t host);
};

Stalls::Stalls(const RunOptions& options) : StallsEnd(options, kKey) {
  world_.faults().plan = plan_.faults;
  world_.on_activity([this](SimHost& host) { reap(host.index()); });
  for (HostOptions host : plan_.hosts) {
    observers_.push_back(std::make_unique<StallsObserver>(*this, world_.host_count()));
    host.config.observer = observers_.back().get();
    world_.add(host);
    life_begin(world_.host_count() - 1);
  }
  world_.on_delivery([this](SimHost& host, const SimFrame& frame) { heard(host.index(), frame.from); });
  contact_update();
}

void Stalls::life_begin(std::uint32_t host) {
  Life& life = lives_.emplace_back();
  life.host = host;
  life.number = static_cast<std::uint32_t>(lives_.size() - 1);
  newest_.emplace_back(plan_.hosts.size());
  current_[host] = by_session_[engine(host).config().session] = &life;
  for (std::uint32_t i = 0; i < plan_.hosts.size(); i++) {
    addresses_[host * plan_.hosts.size() + i] = {};
    addresses_[host * plan_.hosts.size() + i].again = true;
  }
}

void Stalls::life_end(std::uint32_t host) {
  current_[host]->over = true;
  for (Call& c : calls_) {
    if (c.life != current_[host]) continue;
    c.ended = true;
    c.request = nullptr;
  }
  world_.host(host).crash();
}

void Stalls::contact_update() {
  for (std::uint32_t a = 0; a < hosts(); a++) {
    for (std::uint32_t b = 0; b < hosts(); b++) {
      if (a == b) continue;
      const bool way = !world_.faults().separated(a, b) && !world_.faults().separated(b, a);
      silence_.set(a, b, runs(a), way && runs(a) && runs(b), world_.now());
    }
  }
}

void Stalls::outage_begin(std::size_t index) {
  const Outage& o = plan_.outages[index];
  auto& closed = world_.faults().closed;
  if (trace_)
    trace_->line(world_.now(),
                 fmt::format("outage {} begins: kind {}, hosts {} and {}, {} ms", index,
                             static_cast<int>(o.kind), o.host, o.other, o.duration / protocol::kMillisecond));
  switch (o.kind) {
    case Outage::Kind::stall_both:
      stalls_[o.other]++;
      world_.host(o.other).pause();
      [[fallthrough]];
    case Outage::Kind::stall:
      stalls_[o.host]++;
      world_.host(o.host).pause();
      break;
    case Outage::Kind::cut:
      closed.emplace_back(o.other, o.host);
      [[fallthrough]];
    case Outage::Kind::one_way:
      closed.emplace_back(o.host, o.other);
      break;
    case Outage::Kind::restart:
      if (world_.host(o.host).alive()) life_end(o.host);
      break;
  }
  active_++;
  world_.schedule(world_.now() + o.duration, *this, index);
  contact_update();
}

void Stalls::outage_end(std::size_t index) {
  const Outage& o = plan_.outages[index];
  auto& closed = world_.faults().closed;
  const auto open = [&](std::uint32_t from, std::uint32_t to) {
    closed.erase(std::find(closed.begin(), closed.end(), std::pair(from, to)));
  };
  const auto resume = [&](std::uint32_t host) {
    if (--stalls_[host] > 0) return;
    // The application may make a call before the frames that came meanwhile are read.
    if (world_.host(host).alive() && random_.chance(0.3)) act(host, any_other(host));
    world_.host(host).resume();
  };
  if (trace_) trace_->line(world_.now(), fmt::format("outage {} ends", index));
  active_--;
  switch (o.kind) {
    case Outage::Kind::stall_both:
      resume(o.other);
      [[fallthrough]];
    case Outage::Kind::stall:
      resume(o.host);
      break;
    case Outage::Kind::cut:
      open(o.other, o.host);
      [[fallthrough]];
    case Outage::Kind::one_way:
      open(o.host, o.other);
      break;
    case Outage::Kind::restart:
      if (world_.host(o.host).alive()) break;
      world_.host(o.host).restart();
      if (stalls_[o.host] > 0) world_.host(o.host).pause();
      life_begin(o.host);
      break;
  }
  contact_update();
}

void Stalls::on_event(std::uint64_t outage) {
  outage_end(outage);
}

void Stalls::act(std::uint32_t host, std::uint32_t other) {
  const Address& a = address(host, other);
  const std::uint64_t what = random_.below(100);
  if (!a.usable) {
    // An application that gave up a peer may still receive messages that came from it.
    if (what < 40) receive(host, {}, random_.chance(0.5));
    if (what >= 60 && a.again && !a.connecting) connect(host, other);
    return;
  }
  if (what < 55)
    send_something(host, other);
  else if (what < 75)
    receive(host, {}, random_.chance(0.3));
  else if (what < 88)
    receive(host, other, random_.chance(0.3));
  else if (what < 93)
    probe(host, other);
  else if (what < 97)
    cancel_something(host);
  else if (what < 99 && !a.connecting)
    connect(host, other);
}

void Stalls::step() {
  const auto host = static_cast<std::uint32_t>(random_.below(hosts()));
  if (runs(host)) act(host, any_other(host));
  reap_all();
  // Some calls follow at once. Others come after a part of an outage.
  if (active_ > 0 && random_.chance(0.2)) return run_for(random_.below(plan_.timeout / 3));
  if (random_.chance(0.5)) run_for(random_.below(random_.chance(0.1) ? plan_.timeout / 20 : 100'000));
}

RunResult Stalls::run() {
  const auto outages = [&](std::uint32_t step) {
    for (std::size_t i = 0; i < plan_.outages.size(); i++)
      if (plan_.outages[i].step == step) outage_begin(i);
  };
  outages(0);
  for (std::uint32_t i = 0; i < hosts(); i++)
    for (std::uint32_t j = 0; j < hosts(); j++)
      if (i != j && runs(i) && random_.chance(0.8)) connect(i, j);
  reap_all();
  run_for(random_.below(1000) * 1000);
  for (std::uint32_t i = 1; i < steps(options_) && !failed(); i++) {
    outages(i);
    step();
  }
  if (!failed()) end();
  return run_result(world_, failure_, messages_, bytes_);
}

}  // namespace

RunResult stalls_run(const RunOptions& options) {
  Stalls run(options);
  return run.run();
}

}  // namespace omx::simulation
