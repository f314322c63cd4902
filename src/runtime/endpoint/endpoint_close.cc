// SPDX-License-Identifier: BSD-3-Clause
// How an endpoint begins and ends.
#include <fmt/format.h>
#include <sched.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/log.h"
#include "link/ethernet/packet_link.h"
#include "link/ethernet/xdp_link.h"
#include "link/udp/udp_link.h"
#include "netdev/open_failure.h"
#include "runtime/endpoint/endpoint_impl.h"

namespace omx::runtime {

namespace {
constexpr int kMxNoResources = 15;
}  // namespace

Result<void> Endpoint::Impl::claim_take(Claim claim) {
  claim_ = std::move(claim);
  segment = CounterSegment::create(board_.interface.index, id_);
  bed_.event = OwnFd(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!segment) return fail(kMxNoResources, "no memory for the counters of an endpoint");
  if (!bed_.event.open()) return tl::unexpected(link::open_failure("an eventfd of an endpoint", errno));
  return {};
}

Result<std::unique_ptr<link::Transport>> Endpoint::Impl::frames_open(const Board& board, bool rail) const {
  const bool lane = !rail && settings_.udp_lane && settings_.protocol.mode == wire::Mode::omx &&
                    settings_.protocol.extension;
  if (board.udp)
    return link::udp_link_open({board.interface.name, id_, settings_.udp_port, lane, board.family});
  link::PacketLinkOptions options;
  options.interface = board.interface.name;
  options.board_frames = !rail;
  options.endpoint = id_;
  options.ring_frames = settings_.ring_frames;
  options.ring_bytes = settings_.ring_bytes;
  options.udp = lane;
  // To hear of endpoints that nobody has takes a filter of one's own.
  options.own_hooks = settings_.protocol.mode == wire::Mode::mxoe ? link::kAllHooks : settings_.own_hooks;
  if (settings_.link == LinkKind::xdp) return link::xdp_link_open(xdp_options(settings_, std::move(options)));
  return link::packet_link_open(options);
}

Result<void> Endpoint::Impl::link_open(PeerTable& peers, const std::vector<Board>& boards) {
  auto opened = frames_open(board_, false);
  if (!opened) return tl::unexpected(opened.error());
  link = std::move(*opened);
  looks_are_calls_ = link->datagram() != nullptr;
  auto made = Copies::create(settings_, *link);
  if (made)
    copies = std::move(*made);
  else
    log(LogLevel::warn, "{}; the processor copies instead (OMX_COPY_ENGINE)", made.error().message);
  names_ = &peers;
  responder_.emplace(board_, settings_.endpoints_max, peers, *link);
  // Peers of our own extension learn soon enough that we are gone; others would send for minutes.
  if (settings_.protocol.mode == wire::Mode::mxoe && !board_.udp)
    closed_.emplace(board_, id_, settings_.endpoints_max, settings_.protocol.mode, *link);
  if (closed_ && responder_->responsible()) closed_->listen();
  if (settings_.local) {
    if (auto r = local_open(boards); !r) return r;
  }
  out = std::make_unique<Router>(*link, hub.get());
  return {};
}

Result<void> Endpoint::Impl::engine_start(const protocol::Config& config) {
  protocol::Config own = config;
  own.direct = hub.get();
  own.offload = copies.get();
  if (settings_.placement == Placement::automatic && link->ring() && !copies && rails.empty())
    placement_.begin(settings_.ring_bytes);
  own.lane_pulls = !by_ring();
  own.history = &segment->view().history;
  engine = std::make_unique<protocol::Endpoint>(own, *out, segment->counters().engine);
  out->engine_is(engine.get());
  spin_ = TimeNs{settings_.spin_us} * 1000;
  yielding_ = Yielding(spin_);
  return {};
}

Endpoint::Impl::~Impl() {
  {
    const std::lock_guard guard(lock);
    closing_ = true;  // where it was never opened whole, nobody has said so
  }
  helper_stop();
  engine.reset();  // before what it sends through and counts in
}

void Endpoint::Impl::close_begin() {
  Parker left;
  lock.lock();
  closing_ = true;
  closer_ = &left;
  wake_all();
  while (!waiters_.empty()) {
    lock.unlock();
    left.park(protocol::kNever);
    lock.lock();
  }
  closer_ = nullptr;
  lock.unlock();
  helper_stop();
  lock.lock();
  handler_wait();
  disabled_ = false;
  now = clock.read();
  copy_end();
  engine->deliveries_end();
  engine->suspend(now, false);
  engine->flush_acks(now);
  out->flush();
  lock.unlock();
  // Those are short calls.
  while (pins_.load(std::memory_order_acquire) > 0) ::sched_yield();
}

bool Endpoint::Impl::close_drive(TimeNs patience) {
  const std::lock_guard guard(lock);
  now = clock.read();
  if (turn() || engine->drained()) return engine->drained();
  const TimeNs until = std::min(now + patience, engine->next_deadline());
  sleep(until);
  return engine->drained();
}

void Endpoint::Impl::close_end() {
  const std::lock_guard guard(lock);
  now = clock.read();
  engine->flush_acks(now);
  out->flush();
  log_partners();
  modes_tell();
  summary_check(true);
}

}  // namespace omx::runtime
