// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/endpoint/intra_node.h"

#include <algorithm>
#include <cassert>
#include <cerrno>
#include <cstring>

#include "base/log.h"
#include "base/shortage.h"
#include "runtime/board/board_responder.h"
#include "runtime/clock.h"
#include "runtime/wait/oversubscription.h"

namespace omx::runtime {

namespace {

constexpr int kMxNoResources = 15;
// How long a process that connects may wait until it is noticed. Checking costs a system call, and delays a
// message that arrives meanwhile by that time.
constexpr TimeNs kTickPeriod = 500'000;
// A thread that sleeps sees by itself who connects. Peers that are gone end at a tick.
constexpr TimeNs kTickPeriodAsleep = 10 * protocol::kMillisecond;
// A full ring of another process does not report when it has room again. Its reader may be stopped for long.
constexpr TimeNs kBacklogPause = 50'000, kBacklogPauseMost = 1'000'000;
// Nothing reports when descriptors are available again, either.
constexpr TimeNs kShortagePause = 100 * protocol::kMillisecond;
// A shortage that lasts longer will not end by itself, so operations that wait for such a peer fail.
constexpr TimeNs kShortageTimeout = 10'000 * protocol::kMillisecond;

}  // namespace

Result<void> IntraNode::open(const std::vector<Board>& boards) {
  assert(!core_.hub);
  local::HubOptions options;
  options.self = {core_.board.interface.nic, core_.id};
  options.listener = core_.claim.descriptor();
  options.direct = core_.settings.intra_node.one_copy;
  options.rndv_threshold = core_.settings.intra_node.rndv_threshold;
  for (const Board& board : boards) {
    if (board.interface.nic == 0) continue;  // the loopback brings frames back by itself
    options.nics.push_back(board.interface.nic);
    places_.push_back({board.interface.nic, board.interface.index, 0});
  }
  options.crowded = [] { return OversubscriptionDetector::crowded(clock_now()); };
  options.connect = [this](const local::Place& to) { return connect(to); };
  core_.hub = std::make_unique<local::Hub>(std::move(options));
  if (!core_.hub->listens())
    return fail(kMxNoResources,
                "no epoll descriptor for the endpoints of this host; raise the limit of open "
                "files (ulimit -n)");
  return {};
}

OwnFd IntraNode::connect(const local::Place& to) const {
  const auto found = std::find_if(places_.begin(), places_.end(),
                                  [&](const ClaimPlace& place) { return place.nic == to.nic; });
  if (found == places_.end()) return OwnFd();
  OwnFd connection = claim_connect(found->ifindex, to.endpoint);
  if (connection.open() || errno != ECONNREFUSED || found->former == 0) return connection;
  return claim_connect(found->former, to.endpoint);
}

void IntraNode::board_moved(std::uint32_t former) {
  const link::Interface& interface = core_.board.interface;
  for (ClaimPlace& place : places_) {
    if (place.nic == interface.nic) place = {place.nic, interface.index, former};
  }
}

std::size_t IntraNode::turn(std::size_t budget) {
  local::Hub& hub = *core_.hub;
  if (core_.copies) core_.copies->frames(Copies::Frames::of_neighbours);
  // Refusals are answers, too.
  const std::size_t frames = (hub.refusals() ? 1 : 0) + hub.receive(*this, budget);
  if (core_.copies) core_.copies->frames(Copies::Frames::passing);
  backlog_pause_ =
      hub.backlog() && hub.stuck() ? std::min(2 * backlog_pause_, kBacklogPauseMost) : kBacklogPause;
  if (core_.now >= next_tick_) {
    last_tick_ = core_.now;
    next_tick_ = core_.now + kTickPeriod;
    hub.tick(*this);
    if (!shortages_.empty() || !hub.unreached().empty()) [[unlikely]]
      shortages_check();
  }
  return frames;
}

void IntraNode::quiet() {
  if (core_.now < last_tick_ + kTickPeriodAsleep) next_tick_ = core_.now + kTickPeriod;
}

TimeNs IntraNode::deadline() const {
  const local::Hub* const hub = core_.hub.get();
  if (!hub) return protocol::kNever;
  if (hub->refusals()) return core_.now;
  if (hub->backlog()) return core_.now + std::max(backlog_pause_, kBacklogPause);
  return hub->masked() || !hub->unreached().empty() ? core_.now + kShortagePause : protocol::kNever;
}

// Gives up peers of this host that could not be reached for long. Time in which no thread polled does not
// count.
void IntraNode::shortages_check() {
  const auto& unreached = core_.hub->unreached();
  const auto is_over = [&](const Shortage& s) {
    return std::find(unreached.begin(), unreached.end(), s.to) == unreached.end();
  };
  shortages_.erase(std::remove_if(shortages_.begin(), shortages_.end(), is_over), shortages_.end());
  for (const local::Place& to : unreached) {
    const auto known = [&](const Shortage& s) { return s.to == to; };
    if (std::none_of(shortages_.begin(), shortages_.end(), known)) shortages_.push_back({to, 0, core_.now});
  }
  // Acts before the engine gives the peer up as silent, which would not tell the reason.
  const TimeNs limit = std::min(kShortageTimeout, core_.settings.protocol.reliability.peer_timeout / 2);
  for (Shortage& shortage : shortages_) {
    shortage.lasted += std::min(core_.now - shortage.seen, 2 * kShortagePause);
    shortage.seen = core_.now;
    if (shortage.lasted < limit) continue;
    shortage.lasted = 0;
    shortage_ended(local::Place(shortage.to), limit);
  }
  core_.out->flush();
}

// Tries to reach the peer a last time. If that fails, the peer counts as unreachable.
void IntraNode::shortage_ended(const local::Place& to, TimeNs limit) {
  if (core_.hub->reach(to)) return;
  const int error = errno;
  core_.hub->unreached_forget(to);
  if (!is_shortage(error)) return;  // the peer is gone meanwhile: the next frame finds that out
  log(LogLevel::error,
      "{} endpoint {}: no way to endpoint {} of this host for {:.1f} s ({}): what waits for it fails; "
      "raise "
      "the limit of open files (ulimit -n), or free memory",
      core_.board.interface.name, core_.id, to.endpoint, static_cast<double>(limit) / 1e9,
      std::strerror(error));
  core_.engine->peer_unreachable(core_.now, to.nic, to.endpoint);
}

void IntraNode::on_local_gone(const local::Place& peer) {
  core_.engine->peer_gone(core_.now, peer.nic, peer.endpoint);
  core_.out->flush();  // other frames may have waited for what the peer's end frees
}

// Refuses as a board's responder does over the wire.
void IntraNode::on_local_refused(wire::Frame frame) {
  wire::Connect connect;
  wire::Head head;
  if (wire::decode_head(frame, head) != wire::Drop::none ||
      wire::decode_connect(frame, connect) != wire::Drop::none || connect.is_reply)
    return;
  std::byte bytes[wire::kMinFrame] = {};
  connect_refuse(bytes, head, connect, core_.settings.endpoints_max);
  core_.engine->on_frame(core_.now, bytes);
}

}  // namespace omx::runtime
