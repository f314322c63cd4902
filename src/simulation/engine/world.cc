// SPDX-License-Identifier: BSD-3-Clause
#include "simulation/engine/world.h"

#include "base/crc32c.h"

namespace omx::simulation {

namespace {

constexpr unsigned kStepShift = 32;

std::uint64_t mix(std::uint64_t digest, std::uint64_t value) {
  return (digest ^ value) * 0x9e3779b97f4a7c15ULL + (digest >> 29);
}

}  // namespace

World::World(const WorldOptions& options) : options_(options), faults_(options.seed ^ 0xFA017) {}

World::~World() {
  hosts_.clear();  // their rings hold frames
}

SimHost& World::add(const HostOptions& options) {
  const auto index = static_cast<std::uint32_t>(hosts_.size());
  auto& ports =
      switch_ports_.emplace_back(1, Port(options.shared ? options.shared->limits : options_.switch_port));
  auto& others = others_.emplace_back();
  if (options.shared && options.shared->others_seed != 0) others.emplace(options.shared->others_seed);
  for (const PortLimits& rail : options.rails) ports.emplace_back(rail);
  hosts_.push_back(std::make_unique<SimHost>(*this, index, options));
  return *hosts_.back();
}

void World::activity(SimHost& host) {
  if (on_activity_) on_activity_(host);
}

void World::delivered(SimHost& host, const SimFrame& frame) {
  if (on_delivery_) on_delivery_(host, frame);
}

void World::transmit(SimHost& from, std::uint32_t index) {
  SimFrame& frame = frames_[index];
  frame.number = totals_.frames++;
  totals_.bytes += frame.bytes.size();
  digest_ = mix(digest_, now());
  digest_ = mix(digest_, crc32c(0, frame.bytes.data(), frame.bytes.size()));
  const FrameFaults drawn = faults_.draw(frame.number, frame.type());
  if (drawn.spike > 0) from.port(frame.rail).stall(now(), drawn.spike);
  if (drawn.lost) {
    totals_.lost++;
    if (trace_) trace_->frame(now(), "lost", frame);
    frames_.destroy(index);
    return;
  }
  if (trace_) trace_->frame(now(), "sent", frame);
  for (unsigned i = 1; i < drawn.copies; i++) leave(from, frames_.copy(index), drawn);
  if (drawn.corrupted) {
    if (trace_) trace_->frame(now(), "damaged", frames_[index]);
    faults_.corrupt(frames_[index].bytes);
    frames_[index].damaged = true;
  }
  leave(from, index, drawn);
}

void World::leave(SimHost& from, std::uint32_t frame, const FrameFaults& drawn) {
  const unsigned rail = frames_[frame].rail;
  const TimeNs at = is_cut(from.index(), rail) ? 0 : from.port(rail).send(now(), frames_[frame].bytes.size());
  if (at == 0) {
    totals_.dropped++;
    if (trace_) trace_->frame(now(), "dropped by the sender's port", frames_[frame]);
    frames_.destroy(frame);
    return;
  }
  events_.schedule(at + drawn.held, *this, static_cast<std::uint64_t>(Step::at_switch) << kStepShift | frame);
}

void World::on_event(std::uint64_t argument) {
  const auto frame = static_cast<std::uint32_t>(argument);
  if (static_cast<Step>(argument >> kStepShift) == Step::at_switch) return forward(frame);
  const NicId to = frames_[frame].destination() & ((NicId{1} << kRailShift) - 1);
  if (trace_) trace_->frame(now(), "arrives", frames_[frame]);
  hosts_[to - 1]->frame_arrived(frame);
}

// Lets the others send first. Of the datagrams of a GSO frame only those at its end find no room.
void World::share(std::uint32_t host, SimFrame& frame) {
  Port& port = switch_ports_[host][0];
  if (others_[host]) others_[host]->advance(now(), port);
  const std::uint64_t mark = hosts_[host]->options().shared->mark_bytes;
  frame.marked |= mark > 0 && port.queued(now()) >= mark;
  const std::uint64_t room = port.room(now());
  if (frame.cut > 0 && frame.bytes.size() > room && room >= frame.cut)
    frame.bytes.resize(room / frame.cut * frame.cut);
}

void World::forward(std::uint32_t index) {
  SimFrame& frame = frames_[index];
  // Each board has a switch of its own, and switches are not connected.
  const NicId to = frame.destination() - nic_of(0, frame.rail);
  const bool fits =
      options_.path_mtu == 0 || frame.packet() <= options_.path_mtu + std::size_t{wire::kEthernetHeader};
  if (to >= hosts_.size() || frame.rail >= hosts_[to]->boards() ||
      is_cut(static_cast<std::uint32_t>(to), frame.rail) ||
      faults_.separated(frame.from, static_cast<std::uint32_t>(to)) || !fits) {
    totals_.dropped++;
    if (trace_) trace_->frame(now(), fits ? "has no way" : "is too long for the path", frame);
    frames_.destroy(index);
    return;
  }
  if (frame.rail == 0 && hosts_[to]->options().shared) share(static_cast<std::uint32_t>(to), frame);
  const TimeNs at = switch_ports_[to][frame.rail].send(now(), frame.bytes.size());
  if (at == 0) {
    totals_.dropped++;
    if (trace_) trace_->frame(now(), "dropped by the switch", frame);
    frames_.destroy(index);
    return;
  }
  events_.schedule(at, *this, static_cast<std::uint64_t>(Step::at_host) << kStepShift | index);
}

bool World::run_until(const std::function<bool()>& condition, TimeNs limit) {
  const TimeNs end = now() + limit;
  while (!condition()) {
    if (!events_.step(end)) {
      events_.skip_to(end);
      return condition();
    }
  }
  return true;
}

void World::run_for(TimeNs time) {
  const TimeNs end = now() + time;
  while (events_.step(end)) {
  }
  events_.skip_to(end);
}

World::Totals World::totals() const {
  Totals totals = totals_;
  totals.events = events_.happened();
  return totals;
}

}  // namespace omx::simulation
