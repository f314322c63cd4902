// SPDX-License-Identifier: BSD-3-Clause
#include "simulation/engine/churn_hosts.h"

#include <fmt/format.h>

#include <algorithm>

namespace omx::simulation {

using protocol::kMillisecond;

void ChurnHosts::contact_update() {
  for (std::uint32_t a = 0; a < hosts(); a++) {
    for (std::uint32_t b = a + 1; b < hosts(); b++) {
      const SimHost &x = world_.host(a), &y = world_.host(b);
      const bool able =
          x.alive() && y.alive() && !x.paused() && !y.paused() && !world_.faults().separated(a, b);
      contact_.set(a, b, able, world_.now());
    }
  }
}

// Lets time pass in pieces, so that requests that take too long are noticed.
void ChurnHosts::run_for(TimeNs time) {
  while (time > 0 && !failed()) {
    const TimeNs piece = std::min(time, 2 * kSecond);
    world_.run_for(piece);
    time -= piece;
    if (piece > kMillisecond) overdue_check();
  }
}

void ChurnHosts::pause(std::uint32_t host) {
  lives_[host].last_pause = world_.now();
  world_.host(host).pause();
  contact_update();
}

void ChurnHosts::resume(std::uint32_t host) {
  if (!world_.host(host).paused()) return;
  lives_[host].last_resume = world_.now();
  world_.host(host).resume();
  contact_update();
}

void ChurnHosts::crash(std::uint32_t host) {
  if (!world_.host(host).alive()) return;
  if (trace_) trace_->line(world_.now(), fmt::format("{} crashes", host));
  instance(host).crashed_at = lives_[host].last_crash = world_.now();
  world_.host(host).crash();
  contact_update();
}

void ChurnHosts::restart(std::uint32_t host) {
  crash(host);
  world_.host(host).restart();
  instance_create(host);
  contact_update();
}

// Splits the network into two groups at random, or heals it.
void ChurnHosts::network_regroup() {
  auto& groups = world_.faults().groups;
  groups.clear();
  if (random_.chance(0.6))
    for (std::uint32_t i = 0; i < hosts(); i++) groups.push_back(static_cast<unsigned>(random_.below(2)));
  contact_update();
}

void ChurnHosts::disconnect(std::uint32_t host, std::uint32_t to) {
  if (protocol::Peer* p = engine(host).find_peer(World::nic_of(to), 0))
    engine(host).disconnect(clock(host), p);
}

}  // namespace omx::simulation
