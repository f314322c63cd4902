// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/endpoint/rails.h"

#include <algorithm>
#include <cassert>

#include "base/log.h"
#include "runtime/endpoint/link_choice.h"

namespace omx::runtime {

void Rails::open(std::vector<RailClaim> claims) {
  assert(core_.out);
  for (RailClaim& claim : claims) {
    const std::string name = claim.board.interface.name;
    if (rails_.size() + 1 == wire::kRailsMost) {
      log(LogLevel::warn, "{} endpoint {}: {} is left out: an endpoint uses {} boards at most (OMX_RAILS)",
          core_.board.interface.name, core_.id, name, wire::kRailsMost);
      continue;
    }
    auto opened = frames_open(core_.settings, claim.board, core_.id, true);
    if (!opened) {
      log(LogLevel::warn, "{} endpoint {}: {} is left out: {}", core_.board.interface.name, core_.id, name,
          opened.error().message);
      continue;
    }
    const auto number = static_cast<unsigned>(rails_.size() + 1);
    rails_.push_back(
        std::make_unique<Rail>(intake_, expected_, number, std::move(claim), std::move(*opened)));
    Rail& rail = *rails_.back();
    core_.out->rail_add(*rail.link);
    sleeping_.rail_add(*rail.link);
    rail.segment = CounterSegment::create(rail.board.interface.index, core_.id);
    if (rail.segment) rail.segment->counters().rail_of = core_.board.interface.index;
    log(LogLevel::info, "{} endpoint {}: rail {} is {}", core_.board.interface.name, core_.id, number, name);
  }
}

void Rails::fill(protocol::Config& config) const {
  if (rails_.empty()) return;
  config.rails.count = static_cast<std::uint8_t>(1 + rails_.size());
  config.rails.nics[0] = config.nic;
  for (const auto& rail : rails_) config.rails.nics[rail->number()] = rail->link->interface().nic();
  config.mtu = mtu();
  for (const auto& rail : rails_) {
    if (rail->link->interface().mtu() == core_.link->interface().mtu()) continue;
    log(LogLevel::warn, "{} has MTU {} and {} has {}: messages by both use frames that either carries",
        core_.board.interface.name, core_.link->interface().mtu(), rail->board.interface.name,
        rail->link->interface().mtu());
  }
}

std::uint32_t Rails::mtu() const {
  std::uint32_t mtu = core_.link->interface().mtu();
  for (const auto& rail : rails_) {
    if (rail->link->interface().mtu() != 0) mtu = std::min(mtu, rail->link->interface().mtu());
  }
  return mtu;
}

bool Rails::pending() const {
  return std::any_of(rails_.begin(), rails_.end(), [](const auto& rail) { return rail->link->pending(); });
}

std::size_t Rails::receive(std::size_t budget) {
  std::size_t frames = 0;
  for (const auto& rail : rails_) frames += rail->link->receive(*rail, budget);
  return frames;
}

std::size_t Rails::receive_bulk(std::size_t budget) {
  std::size_t frames = 0;
  for (const auto& rail : rails_) {
    link::BulkPath* const path = rail->link->bulk_path();
    if (!path) continue;
    const int descriptor = path->descriptor();
    if (core_.engine->bulk_seen() && !core_.by_ring()) path->expect();
    // A sleeping thread does not listen to the new descriptor yet.
    if (path->descriptor() != descriptor) waiters_.wake_sleeper();
    frames += path->receive(*rail, budget);
  }
  return frames;
}

std::uint64_t Rails::frames_received() const {
  std::uint64_t frames = core_.link->counters().frames_received;
  for (const auto& rail : rails_) frames += rail->link->counters().frames_received;
  return frames;
}

void Rails::publish() const {
  for (const auto& rail : rails_) {
    if (rail->segment) rail->segment->counters().link = rail->link->counters();
  }
}

}  // namespace omx::runtime
