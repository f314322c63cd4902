// SPDX-License-Identifier: BSD-3-Clause
// The other endpoints of this host: frames to and from them go through shared memory (local/hub.h).
#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/log.h"
#include "base/shortage.h"
#include "runtime/endpoint/endpoint_impl.h"

namespace omx::runtime {

namespace {

constexpr int kMxNoResources = 15;
constexpr std::size_t kBudget = 64;
// How long somebody who connects may wait to be seen. A look costs a system call, and the message that meets
// it that much time.
constexpr TimeNs kTickPeriod = 500'000;
// A full ring of another process says nothing when it has room again. Its reader may be stopped for long.
constexpr TimeNs kBacklogPause = 50'000, kBacklogPauseMost = 1'000'000;
// As little is told when descriptors are to be had again.
constexpr TimeNs kDeafPause = 100 * protocol::kMillisecond;
// A shortage that lasts longer does not end by itself: operations that wait for such a peer fail.
constexpr TimeNs kShortagePatience = 10'000 * protocol::kMillisecond;

}  // namespace

Result<void> Endpoint::Impl::local_open(const std::vector<Board>& boards) {
  local::HubOptions options;
  options.self = {board_.interface.nic, id_};
  options.listener = claim_.descriptor();
  options.direct = settings_.local_direct;
  options.rndv_threshold = settings_.local_rndv_threshold;
  for (const Board& board : boards) {
    if (board.interface.nic == 0) continue;  // the loopback brings frames back by itself
    options.nics.push_back(board.interface.nic);
    local_places_.push_back({board.interface.nic, board.interface.index, 0});
  }
  options.connect = [this](const local::Place& to) {
    const auto found = std::find_if(local_places_.begin(), local_places_.end(),
                                    [&](const LocalPlace& place) { return place.nic == to.nic; });
    if (found == local_places_.end()) return OwnFd();
    OwnFd connection = claim_connect(found->ifindex, to.endpoint);
    if (connection.open() || errno != ECONNREFUSED || found->former == 0) return connection;
    return claim_connect(found->former, to.endpoint);
  };
  hub = std::make_unique<local::Hub>(std::move(options));
  if (!hub->listens())
    return fail(kMxNoResources,
                "no epoll descriptor for the endpoints of this host; raise the limit of open "
                "files (ulimit -n)");
  return {};
}

std::size_t Endpoint::Impl::local_turn() {
  if (copies) copies->frames(Copies::Frames::of_neighbours);
  // Refusals are answers, too.
  const std::size_t frames = (hub->refusals() ? 1 : 0) + hub->receive(*this, kBudget);
  if (copies) copies->frames(Copies::Frames::passing);
  backlog_pause_ =
      hub->backlog() && hub->stuck() ? std::min(2 * backlog_pause_, kBacklogPauseMost) : kBacklogPause;
  if (now >= next_tick_) {
    next_tick_ = now + kTickPeriod;
    hub->tick(*this);
    if (!shortages_.empty() || !hub->unreached().empty()) [[unlikely]]
      shortages_check();
  }
  return frames;
}

TimeNs Endpoint::Impl::local_deadline() const {
  if (!hub) return protocol::kNever;
  if (hub->refusals()) return now;
  if (hub->backlog()) return now + std::max(backlog_pause_, kBacklogPause);
  return hub->deaf() || !hub->unreached().empty() ? now + kDeafPause : protocol::kNever;
}

// Peers of this host to which there has been no way for long are given up. Time in which nobody looked does
// not count.
void Endpoint::Impl::shortages_check() {
  const auto& unreached = hub->unreached();
  const auto is_over = [&](const Shortage& s) {
    return std::find(unreached.begin(), unreached.end(), s.to) == unreached.end();
  };
  shortages_.erase(std::remove_if(shortages_.begin(), shortages_.end(), is_over), shortages_.end());
  for (const local::Place& to : unreached) {
    const auto known = [&](const Shortage& s) { return s.to == to; };
    if (std::none_of(shortages_.begin(), shortages_.end(), known)) shortages_.push_back({to, 0, now});
  }
  // Before the engine gives the peer up as silent, which would not say why.
  const TimeNs patience = std::min(kShortagePatience, settings_.protocol.peer_timeout / 2);
  for (Shortage& shortage : shortages_) {
    shortage.lasted += std::min(now - shortage.seen, 2 * kDeafPause);
    shortage.seen = now;
    if (shortage.lasted < patience) continue;
    const local::Place to = shortage.to;
    shortage.lasted = 0;
    if (hub->reach(to)) continue;
    const int error = errno;
    hub->unreached_forget(to);
    if (!is_shortage(error)) continue;  // it is gone meanwhile: the next frame learns that
    log(LogLevel::error,
        "{} endpoint {}: no way to endpoint {} of this host for {:.1f} s ({}): what waits for it fails; "
        "raise "
        "the limit of open files (ulimit -n), or free memory",
        board_.interface.name, id_, to.endpoint, static_cast<double>(patience) / 1e9, std::strerror(error));
    engine->peer_unreachable(now, to.nic, to.endpoint);
  }
  out->flush();
}

void Endpoint::Impl::on_local_gone(const local::Place& peer) {
  engine->peer_gone(now, peer.nic, peer.endpoint);
  out->flush();  // others may have waited for what it leaves free
}

// As a board's responder refuses over the wire.
void Endpoint::Impl::on_local_refused(wire::Frame frame) {
  wire::Connect connect;
  wire::Head head;
  if (wire::decode_head(frame, head) != wire::Drop::none ||
      wire::decode_connect(frame, connect) != wire::Drop::none || connect.is_reply)
    return;
  std::byte bytes[wire::kMinFrame] = {};
  connect_refuse(bytes, head, connect, settings_.endpoints_max);
  engine->on_frame(now, bytes);
}

}  // namespace omx::runtime
