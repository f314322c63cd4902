// SPDX-License-Identifier: BSD-3-Clause
// Turns of the engine: frames in, timers, frames out; and what is looked after once per second.
#include <fmt/format.h>

#include <algorithm>
#include <climits>
#include <new>

#include "base/futex.h"
#include "base/log.h"
#include "base/store_ahead.h"
#include "protocol/partner.h"
#include "runtime/endpoint/endpoint_impl.h"

namespace omx::runtime {

namespace {

// Frames per turn: enough to amortise the turn, few enough that other threads get at the lock.
constexpr std::size_t kBudget = 64;
constexpr TimeNs kCheckPeriod = 1000 * protocol::kMillisecond;
// Turns in a row whose timers wait until what has arrived is read: all that a ring holds.
constexpr unsigned kBehindMost = 256;
// What lies in a lane and was announced in vain must not stay there until its message number comes round.
constexpr TimeNs kLookEvery = protocol::kMillisecond;
// After it held something: a look costs a system call, an announcement a frame that may come late.
constexpr TimeNs kBusy = protocol::kMillisecond / 5;
constexpr std::size_t kShortestFrame = 32;  // what destination_endpoint needs

}  // namespace

bool Endpoint::Impl::turn() {
  if (disabled_ || in_handler()) return false;
  sends_since_turn_ = 0;
  burst_end();
  if (copies) copies->frames(Copies::Frames::passing);  // an exception may have ended the last turn
  std::size_t frames = deferred_.empty() ? 0 : deferred_process();
  frames += ring_turn();
  if (!rails.empty()) [[unlikely]]
    frames += rails_receive(kBudget);
  if (hub) frames += local_turn();
  // The rest of a lone large message is asked for before its beginning is read.
  if (frames > 0 && engine->held_question()) engine->release(now);
  const std::size_t by_lanes = lanes_turn();
  frames += by_lanes;
  lanes_late_ = by_lanes >= kBudget;
  bool more = lanes_late_;
  sink_run();  // its answers carry the acknowledgements
  if (now >= engine->next_deadline() || engine->copies_awaited()) {
    more = more || link->pending() || (hub && hub->pending()) || (!rails.empty() && rails_pending());
    more = more && frames > 0 && behind_++ < kBehindMost;
    if (!more) behind_ = 0;
    engine->progress(now, more);
    silence_found();
    sink_run();
  }
  if (engine->held()) engine->release(now);
  out->flush();
  if (now >= next_check_) check();
  if (engine->news()) [[unlikely]]
    news_tell();  // of peers with whom no operation ended
  sink_run();     // a neighbour's death needs no frame
  return frames > 0;
}

std::size_t Endpoint::Impl::ring_turn() {
  if (!copies) return link->receive(*this, kBudget);
  copies->frames(Copies::Frames::of_ring);
  const std::size_t frames = link->receive(*this, kBudget);
  copies->frames(Copies::Frames::passing);
  if (copies->busy()) copies->tend();
  return frames;
}

void Endpoint::Impl::placement_choose() {
  const protocol::Endpoint::Pace pace = engine->pull_pace();
  const int lane = descriptor_of(link->bulk_path());
  placement_.choose(*link, pace.bytes, pace.busy);
  if (descriptor_of(link->bulk_path()) != lane && asleep()) kick();  // who sleeps does not listen to it yet
  if (!placement_.news()) return;
  const PlacementTrial& trial = placement_.trial();
  log(LogLevel::info,
      "{} endpoint {}: large messages by frames are put into their place by {}: tried now, by the kernel "
      "{:.1f} and from the ring {:.1f} Gb/s",
      board_.interface.name, id_, trial.by_kernel() ? "the kernel" : "us, from the ring",
      static_cast<double>(trial.kernel_rate()) * 8 / 1e6, static_cast<double>(trial.ring_rate()) * 8 / 1e6);
}

// Each look is a system call: only where something may lie.
std::size_t Endpoint::Impl::lanes_turn() {
  const bool late = lanes_late_ || now - lanes_looked_ >= kLookEvery;
  if (late) lanes_looked_ = now;
  lanes_late_ = false;
  // What is not announced yet is found sooner; but who yields leaves that time to others.
  lane_looks_ = late || (now < lane_busy_until_ && !yields_);
  std::size_t frames = 0;
  if (lane_looks_ || engine->lane_wanted(now)) {
    if (link::UdpBulkPath* const path = link->udp_bulk_path()) frames = path->receive(*this, kBudget);
    if (frames > 0) {
      lane_busy_until_ = now + kBusy;
      engine->lane_came();
    }
  }
  const bool asked = engine->pulls_by_link();
  if (late || asked || now < bulk_busy_until_) {
    if (engine->bulk_seen() && !by_ring()) placement_choose();
    std::size_t bulk = placement_.receive(*link, *this, kBudget, late);
    if (!rails.empty()) [[unlikely]]
      bulk += rails_receive_bulk(kBudget);
    // Not even asked for there: who sends does not use our lane any more.
    if (bulk > 0 && !asked) bulk_busy_until_ = now + kBusy;
    frames += bulk;
  }
  return frames;
}

void Endpoint::Impl::turn_if_free() {
  if (!lock.try_lock()) return;
  if (lock.depth() == 1) {
    now = clock.read();
    turn();
    wake_others();
  }
  lock.unlock();
}

void Endpoint::Impl::on_frame(wire::Frame frame) {
  if (disabled_) {
    // The handler disabled progression in the middle of a batch. Frames cannot be handed back to the link.
    // Without memory they are lost, which the protocol makes up for.
    try {
      deferred_.emplace_back(0, std::vector(frame.begin(), frame.end()));
    } catch (const std::bad_alloc&) {
    }
    return;
  }
  frame_dispatch(frame);
}

// What `expect` says of the next frames, as a link wants it.
template <class Expect>
std::size_t Endpoint::Impl::places_from(Expect expect, std::span<iovec> places) {
  if (disabled_) return 0;
  const std::size_t known = expect(std::span(expected_).first(std::min(places.size(), expected_.size())));
  for (std::size_t i = 0; i < known; i++) places[i] = {expected_[i].place, expected_[i].length};
  return known;
}

std::size_t Endpoint::Impl::bulk_places(std::span<iovec> places) {
  return places_from([this](auto room) { return engine->expected_replies(room); }, places);
}

std::size_t Endpoint::Impl::bulk_places_by(unsigned rail, std::span<iovec> places) {
  return places_from([this, rail](auto room) { return engine->expected_replies(room, rail); }, places);
}

std::size_t Endpoint::Impl::lane_places(std::span<iovec> places, std::size_t& header) {
  const std::size_t known =
      places_from([this](auto room) { return engine->expected_by_lane(now, room); }, places);
  header = known ? expected_[0].header : 0;
  return known;
}

void Endpoint::Impl::frame_dispatch(wire::Frame frame) {
  const bool ours = frame.size() >= kShortestFrame && wire::destination_endpoint(frame) == id_;
  if (!ours && (responder_->on_frame(frame) || refused(frame))) {
    link->flush();  // its answers do not take the engine's way out
    return;
  }
  engine->on_frame(now, frame);  // it also counts what nobody wants
}

// Whether it was for an endpoint that nobody has, and its sender was told so.
bool Endpoint::Impl::refused(wire::Frame frame) {
  wire::Head head;
  if (!closed_ || frame.size() < kShortestFrame || wire::decode_head(frame, head) != wire::Drop::none)
    return false;
  const protocol::Partner* const from = engine->find_partner(head.src, static_cast<std::uint8_t>(frame[18]));
  return closed_->on_frame(frame, from ? from->peer_index : wire::kUnknownPeerIndex);
}

void Endpoint::Impl::disable() {
  burst_end();
  disabled_ = true;
  engine->suspend(now, true);
  // A leader that sleeps on the link's descriptor would be woken by each frame and could do nothing about it.
  if (asleep()) kick();
  handler_wait();
}

void Endpoint::Impl::reenable() {
  disabled_ = false;
  engine->suspend(now, false);
  turn();
  if (asleep()) kick();
}

std::size_t Endpoint::Impl::deferred_process() {
  decltype(deferred_) frames;
  frames.swap(deferred_);
  for (const auto& [rail, frame] : frames) {
    if (rail == 0)
      on_frame(frame);
    else
      frame_by(rail, frame);
  }
  return frames.size();
}

// Called by the engine in the middle of a delivery, or of a send to oneself. The lock is released for the
// handler's sake, which may take locks of the application that other threads hold while they call us
// (protocol.md 10). The engine expects any call meanwhile, except further frames.
protocol::HandlerAction Endpoint::Impl::handler_entry(void* context, const protocol::Arrival& arrival) {
  auto* self = static_cast<Impl*>(context);
  const bool nested = self->in_own_handler();
  if (!nested) self->handler_wait();
  const UnexpectedHandler handler = self->handler_;
  if (!handler.call) return protocol::HandlerAction::proceed;
  self->handler_thread_.store(EndpointLock::current_thread(), std::memory_order_relaxed);
  self->burst_end();    // nobody looks meanwhile
  self->wake_others();  // of what this turn has done so far
  const unsigned depth = self->lock.release();
  const protocol::HandlerAction action = handler.call(handler, arrival);
  self->lock.retake(depth);
  if (nested) return action;
  self->handler_thread_.store(0, std::memory_order_relaxed);
  self->handler_ends_.fetch_add(1, std::memory_order_relaxed);
  if (self->handler_waiters_ > 0) futex_wake(self->handler_ends_, INT_MAX);
  if (self->asleep()) self->kick();  // it did not look at the link
  return action;
}

void Endpoint::Impl::handler_wait() {
  while (in_handler() && !in_own_handler()) {
    const std::uint32_t ends = handler_ends_.load(std::memory_order_relaxed);
    handler_waiters_++;
    const unsigned depth = lock.release();
    futex_wait(handler_ends_, ends, protocol::kNever);
    lock.retake(depth);
    handler_waiters_--;
  }
}

void Endpoint::Impl::handler_set(const UnexpectedHandler& handler) {
  handler_ = handler;
  engine->set_unexpected_handler(handler.call ? handler_entry : nullptr, this);
}

// Some system calls, so not in every turn.
void Endpoint::Impl::check() {
  next_check_ = now + kCheckPeriod;
  check_link();
  if (!rails.empty()) rails_check();
  engine->set_lane_pulls(!by_ring());
  counters_publish();
  view_publish();
  if (closed_ && responder_->responsible()) {
    closed_->listen();
    closed_->look();
  }
  if (!hub) claim_.drain();
  silence_check();
  names_ask();
  log_partners();
  modes_tell();
  summary_check(false);
}

std::uint64_t Endpoint::Impl::activity() const {
  return uses_ + engine->completion_count() + frames_received() + (hub ? hub->counters().frames_received : 0);
}

void Endpoint::Impl::view_publish() {
  const std::uint64_t seen = activity();
  if (seen == view_seen_) return;
  view_seen_ = seen;
  SharedView& view = segment->view();
  const std::uint64_t turn = view.ended + 1;
  store_ahead(std::atomic_ref(view.begun), turn);
  engine->snapshot(now, view.snapshot);
  view.waiting = 0;
  for (Waiter* waiter = waiters_.front(); waiter; waiter = waiters_.next(*waiter))
    view.waiting += waiter != &helper_;
  using Driver = SharedView::Driver;
  view.driver =
      !leader_ ? Driver::nobody : (leader_ == &helper_ ? Driver::progress_thread : Driver::application);
  view.stopped = disabled_;
  std::atomic_ref(view.ended).store(turn, std::memory_order_release);
}

void Endpoint::Impl::log_partners() {
  if (!log_enabled(LogLevel::info)) return;
  const std::uint32_t count = engine->partner_count();
  logged_.resize(count);
  for (std::uint32_t i = 0; i < count; i++) {
    protocol::Partner* partner = engine->partner_at(i);
    if (!partner || partner == engine->self()) continue;
    const protocol::PartnerInfo info = protocol::partner_info(partner);
    const auto sizes = std::pair(info.frame_agreed, info.frame_max);
    if (info.frame_agreed == 0 || sizes == logged_[i]) continue;
    logged_[i] = sizes;
    log(LogLevel::info, "{} endpoint {}: frames to {}: {} bytes agreed (ours {}), {} proven",
        board_.interface.name, id_, peer_text(info.nic, info.endpoint), info.frame_agreed,
        link->interface().mtu() + wire::kEthernetHeader, info.frame_max);
  }
}

}  // namespace omx::runtime
