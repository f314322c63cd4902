// SPDX-License-Identifier: BSD-3-Clause
// An endpoint with several boards (docs/rails.md): a link on each, which all are looked at and slept on.
#include <poll.h>

#include <algorithm>
#include <new>

#include "base/log.h"
#include "runtime/endpoint/endpoint_impl.h"

namespace omx::runtime {

namespace {

// After a descriptor reported an error, so that a lasting one costs no processor time.
constexpr TimeNs kErrorPause = 100 * protocol::kMillisecond;

}  // namespace

void Rail::on_frame(wire::Frame frame) {
  impl_.frame_by(number_, frame);
}

std::size_t Rail::bulk_places(std::span<iovec> places) {
  return impl_.bulk_places_by(number_, places);
}

bool Rail::bulk_in_place(std::size_t index, wire::Frame frame) {
  return impl_.bulk_in_place(index, frame);
}

void Rail::on_bulk_placed(std::size_t index, wire::Frame frame) {
  impl_.on_bulk_placed_by(number_, index, frame);
}

void Endpoint::Impl::rails_open(std::vector<RailClaim> claims) {
  for (RailClaim& claim : claims) {
    const std::string name = claim.board.interface.name;
    if (rails.size() + 1 == wire::kRailsMost) {
      log(LogLevel::warn, "{} endpoint {}: {} is left out: an endpoint uses {} boards at most (OMX_RAILS)",
          board_.interface.name, id_, name, wire::kRailsMost);
      continue;
    }
    auto opened = frames_open(claim.board, true);
    if (!opened) {
      log(LogLevel::warn, "{} endpoint {}: {} is left out: {}", board_.interface.name, id_, name,
          opened.error().message);
      continue;
    }
    const auto number = static_cast<unsigned>(rails.size() + 1);
    rails.push_back(std::make_unique<Rail>(*this, number, std::move(claim), std::move(*opened)));
    Rail& rail = *rails.back();
    out->rail_add(*rail.link);
    rail.segment = CounterSegment::create(rail.board.interface.index, id_);
    if (rail.segment) rail.segment->counters().rail_of = board_.interface.index;
    log(LogLevel::info, "{} endpoint {}: rail {} is {}", board_.interface.name, id_, number, name);
  }
}

void Endpoint::Impl::rails_fill(protocol::Config& config) const {
  if (rails.empty()) return;
  config.rails.count = static_cast<std::uint8_t>(1 + rails.size());
  config.rails.nics[0] = config.nic;
  for (const auto& rail : rails) config.rails.nics[rail->number()] = rail->link->interface().nic();
  config.mtu = rails_mtu();
  for (const auto& rail : rails) {
    if (rail->link->interface().mtu() == link->interface().mtu()) continue;
    log(LogLevel::warn, "{} has MTU {} and {} has {}: messages by both use frames that either carries",
        board_.interface.name, link->interface().mtu(), rail->board.interface.name,
        rail->link->interface().mtu());
  }
}

std::uint32_t Endpoint::Impl::rails_mtu() const {
  std::uint32_t mtu = link->interface().mtu();
  for (const auto& rail : rails) {
    if (rail->link->interface().mtu() != 0) mtu = std::min(mtu, rail->link->interface().mtu());
  }
  return mtu;
}

bool Endpoint::Impl::rails_pending() const {
  return std::any_of(rails.begin(), rails.end(), [](const auto& rail) { return rail->link->pending(); });
}

std::size_t Endpoint::Impl::rails_receive(std::size_t budget) {
  std::size_t frames = 0;
  for (const auto& rail : rails) frames += rail->link->receive(*rail, budget);
  return frames;
}

std::size_t Endpoint::Impl::rails_receive_bulk(std::size_t budget) {
  std::size_t frames = 0;
  for (const auto& rail : rails) {
    link::BulkPath* const path = rail->link->bulk_path();
    if (!path) continue;
    const int lane = path->descriptor();
    if (engine->bulk_seen() && !by_ring()) path->expect();
    if (path->descriptor() != lane && asleep()) kick();
    frames += path->receive(*rail, budget);
  }
  return frames;
}

void Endpoint::Impl::frame_by(unsigned rail, wire::Frame frame) {
  if (!disabled_) return engine->on_frame_by(now, rail, frame);
  try {  // as on_frame
    deferred_.emplace_back(rail, std::vector(frame.begin(), frame.end()));
  } catch (const std::bad_alloc&) {
  }
}

void Endpoint::Impl::on_bulk_placed_by(unsigned rail, std::size_t index, wire::Frame frame) {
  engine->on_placed(now, expected_[index], frame, rail);
}

std::uint64_t Endpoint::Impl::frames_received() const {
  std::uint64_t frames = link->counters().frames_received;
  for (const auto& rail : rails) frames += rail->link->counters().frames_received;
  return frames;
}

void Endpoint::Impl::rails_publish() {
  for (const auto& rail : rails) {
    if (rail->segment) rail->segment->counters().link = rail->link->counters();
  }
}

nfds_t Endpoint::Impl::rails_listen(pollfd* waits, Moderation::Ears ears) const {
  nfds_t count = 0;
  for (const auto& rail : rails) {
    const bool quiet = now < rail->quiet_until;
    waits[count++] = {quiet ? -1 : frames_descriptor(*rail->link, ears), POLLIN, 0};
    const bool frames = !quiet && ears == Moderation::Ears::frames;
    waits[count++] = {frames ? descriptor_of(rail->link->bulk_path()) : -1, POLLIN, 0};
    const link::Datagram* const datagram = rail->link->datagram();
    waits[count++] = {frames && datagram ? datagram->fast_path_descriptor() : -1, POLLIN, 0};
  }
  return count;
}

int Endpoint::Impl::rails_woken(const pollfd* waits, Moderation::Ears ears) {
  int events = 0;
  bool failed = false;
  for (const auto& rail : rails) {
    const int frames = waits[0].revents | waits[2].revents, bulk = waits[1].revents;
    if (link::Datagram* const datagram = rail->link->datagram()) {
      if (waits[2].revents) datagram->fast_path_poll();
      if (waits[0].revents) datagram->main_poll();
    }
    waits += kRailWaits;
    if ((frames | bulk) & (POLLERR | POLLHUP | POLLNVAL)) {
      failed = true;
      rail->quiet_until = now + kErrorPause;
      continue;
    }
    events |= frames | bulk;
    if (bulk) lanes_late_ = true;
    if (frames && ears == Moderation::Ears::marks) rail->link->wakeup()->clear();
  }
  if (failed) rails_check();
  return events;
}

}  // namespace omx::runtime
