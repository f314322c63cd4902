// SPDX-License-Identifier: BSD-3-Clause
#include "simulation/engine/churn_causes.h"

#include <fmt/format.h>

#include <algorithm>

#include "protocol/state/peer.h"
#include "wire/codec.h"

namespace omx::simulation {

using protocol::Cleanup;
using protocol::RequestKind;
using protocol::Status;

namespace {

// Even if a third of the CONNECTs is lost, one of those sent within this time arrives.
constexpr TimeNs kTalk = 15 * kSecond;
// The longest time a frame is under way: queues, spikes and frames that are held back together.
constexpr TimeNs kUnderWay = 1 * kSecond;
// Time beyond peer_timeout: the last repetition must have had time to be answered. So must the last two
// requests for a sign of life, which come once a second.
constexpr TimeNs kSlack = 5 * kSecond;
// Between two hosts that hear each other, lost frames are repeated within 1.25 s, the longest pause. So
// within this time a request ends, or more of a large message arrives. The longest wait in 1000 seeds was 7
// s, of a connect in a network that loses a third of the CONNECTs.
constexpr TimeNs kAnswer = 15 * kSecond;
// The largest difference between two clocks.
constexpr TimeNs kSkew = 20 * protocol::kMillisecond;

// Returns whether a frame proves to the instance in `session` that the one in `sender` lives, whatever else
// the engine does with it.
bool sign_of_life(const SimFrame& frame, std::uint32_t session, std::uint32_t sender, std::uint32_t key) {
  if (frame.damaged) return false;
  const wire::Frame in(frame.bytes);
  switch (frame.type()) {
    case wire::PacketType::truc: {
      wire::Truc p;
      return wire::decode_truc(in, true, p) == wire::Drop::none && p.session == session;
    }
    case wire::PacketType::probe: {
      wire::Probe p;
      return wire::decode_probe(in, p) == wire::Drop::none && p.session == session;
    }
    case wire::PacketType::connect: {
      wire::Connect p;
      if (wire::decode_connect(in, p) != wire::Drop::none) return false;
      if (p.is_reply) return p.src_session == session && p.key_or_target_session == sender && p.status == 0;
      return p.src_session == sender && p.key_or_target_session == key;
    }
    default:
      return false;
  }
}

// Notes whether a frame has data of a large message beyond all that came of it before.
void fetched_note(Instance::View& view, const SimFrame& frame, TimeNs now) {
  wire::PullReply p;
  const std::byte* data = nullptr;
  if (frame.damaged || frame.type() != wire::PacketType::pull_reply ||
      wire::decode_pull_reply(wire::Frame(frame.bytes), true, p, &data) != wire::Drop::none)
    return;
  const auto [at, first] = view.fetched_to.try_emplace(p.pull_handle, p.msg_offset);
  if (!first && p.msg_offset <= at->second) return;
  at->second = p.msg_offset;
  view.fetched = now;
}

const char* name(Cleanup why) {
  switch (why) {
    case Cleanup::restarted:
      return "restarted";
    case Cleanup::given_up:
      return "given up";
    case Cleanup::abandoned:
      return "given up by the peer";
    case Cleanup::refused:
      return "refused";
    case Cleanup::disconnected:
      return "disconnected";
  }
  return "?";
}

}  // namespace

ChurnCauses::ChurnCauses(const RunOptions& options, RandomNetwork network, std::uint32_t key)
    : Workload(options, std::move(network), key),
      timeout_(network_.hosts.front().config.reliability.peer_timeout),
      contact_(hosts(), kTalk),
      lives_(hosts()) {
  world_.on_delivery([this](SimHost& host, const SimFrame& frame) { delivered(host, frame); });
}

bool ChurnCauses::strict(std::uint32_t a, std::uint32_t b) const {
  return network_.hosts[a].config.extension && network_.hosts[b].config.extension;
}

bool ChurnCauses::may_fail(const Operation& o, Status status) {
  switch (o.kind) {
    case RequestKind::send:
      return send_may_fail(o, status);
    case RequestKind::receive:
      return receive_may_fail(o, status);
    case RequestKind::connect:
      return connect_may_fail(o, status);
  }
  return false;
}

bool ChurnCauses::send_may_fail(const Operation& m, Status status) {
  if (m.to == m.host) return false;
  // Not connected: the peer was given up, or a later instance refused the message.
  if (!m.target) return status == Status::endpoint_unreachable || status == Status::bad_session;
  if (m.stale) return status == Status::bad_session;
  if (status != Status::endpoint_unreachable && status != Status::bad_session) return false;
  return m.instance->views[m.to].losses > m.losses;
}

bool ChurnCauses::receive_may_fail(const Operation& r, Status status) {
  const Operation& m = operation(r.expected);
  if (m.host == r.host) return false;
  if (status != Status::endpoint_unreachable && status != Status::bad_session &&
      status != Status::bad_rdma_window)
    return false;
  if (!strict(r.host, m.host)) return true;
  return r.instance->views[m.host].losses > r.losses || m.instance->crashed() ||
         m.instance->views[r.host].losses > m.losses ||
         (world_.now() + kSkew >= r.matched + timeout_ &&
          contact_.silent(r.host, m.host, world_.now(), timeout_));
}

bool ChurnCauses::connect_may_fail(const Operation& o, Status status) {
  if (status != Status::endpoint_unreachable) return false;
  if (!strict(o.host, o.to) || o.instance->views[o.to].losses > o.losses) return true;
  return world_.now() + kSkew >= o.start + timeout_ &&
         contact_.last(o.host, o.to, world_.now()) < o.start + contact_.talk();
}

bool ChurnCauses::loss_explained(Instance& at, const protocol::Peer& peer, Cleanup why) {
  if (why == Cleanup::disconnected) return true;
  const auto other = static_cast<std::uint32_t>(peer.nic - World::nic_of(0));
  const auto found = by_session_.find(peer.session.true_session);
  if (faults_over_ || found == by_session_.end()) return false;
  const Instance& them = *found->second;
  const Instance::View& ours = at.views[other];
  if (why == Cleanup::given_up) {
    const bool deaf = world_.now() + kSkew >= ours.heard + timeout_;
    // The two never agreed: the connect that this side answered had been given up.
    const Instance::View& theirs = them.views[at.host];
    if (theirs.last_failed_connect > 0 && theirs.last_failed_connect >= ours.joined_from) return true;
    return deaf && (them.crashed() || contact_.silent(at.host, other, world_.now(), timeout_));
  }
  if (them.crashed()) return true;
  const Instance::View& theirs = them.views[at.host];
  if (theirs.losses > 0 && theirs.last_loss >= ours.joined_from) return true;
  // A connect of the peer failed before both sides knew of it. So the count that this side adopted was
  // withdrawn.
  if (theirs.last_failed_connect > 0 && theirs.last_failed_connect >= ours.joined_from) return true;
  // Frames from, or to, an instance that crashed.
  const TimeNs oldest = horizon(at.host, other);
  const auto late = [&](TimeNs then) { return then > 0 && then >= oldest; };
  return late(ours.last_forgot_crashed) || late(lives_[other].last_crash) || late(lives_[at.host].last_crash);
}

TimeNs ChurnCauses::horizon(std::uint32_t a, std::uint32_t b) const {
  const TimeNs now = world_.now();
  TimeNs oldest = now;
  for (const Life* life : {&lives_[a], &lives_[b]})  // the frames waited in the ring of a paused host
    if (life->last_resume > 0 && now - life->last_resume <= kUnderWay)
      oldest = std::min(oldest, life->last_pause);
  return oldest - std::min(oldest, kUnderWay);
}

void ChurnCauses::delivered(SimHost& host, const SimFrame& frame) {
  Instance::View& view = instance(host.index()).views[frame.from];
  if (sign_of_life(frame, instance(host.index()).session, instance(frame.from).session, key_))
    view.heard = world_.now();
  fetched_note(view, frame, world_.now());
  if (view.joined) return;
  const protocol::Peer* p = host.engine().find_peer(World::nic_of(frame.from), 0);
  if (!p || !p->connected()) return;
  view.joined = true;
  view.joined_from = horizon(host.index(), frame.from);
}

void ChurnCauses::peer_lost(Instance& at, const protocol::Peer& peer, Cleanup why) {
  const auto other = static_cast<std::uint32_t>(peer.nic - World::nic_of(0));
  if (trace_) trace_->line(world_.now(), fmt::format("{} forgets {}: {}", at.host, other, name(why)));
  const auto found = by_session_.find(peer.session.true_session);
  if (found != by_session_.end() && found->second->crashed())
    at.views[other].last_forgot_crashed = world_.now();
  if (!strict(at.host, other) || loss_explained(at, peer, why)) return;
  fail(fmt::format("host {} forgot {} without a cause: {}", at.host, other, name(why)));
}

// Returns since when no peer is there to answer, or kNever if one is or that is unknown.
TimeNs ChurnCauses::gone_since(const Operation& o) {
  if (o.ended || o.instance->crashed() || world_.host(o.host).paused()) return protocol::kNever;
  std::uint32_t other = o.to;
  const Instance* peer = o.target;
  if (o.kind == RequestKind::receive) {
    if (o.expected == 0) return protocol::kNever;
    other = operation(o.expected).host;
    peer = operation(o.expected).instance;
  }
  if (other == o.host) return protocol::kNever;
  const TimeNs apart = contact_.apart_since(o.host, other);
  return peer ? std::min(apart, peer->crashed_at) : apart;
}

// Returns since when a peer is there that must answer. Returns kNever if none is, or if its application may
// take its time.
TimeNs ChurnCauses::owed_since(const Operation& o) {
  if (o.ended || o.instance->crashed()) return protocol::kNever;
  const bool receive = o.kind == RequestKind::receive;
  if (receive && o.expected == 0) return protocol::kNever;
  const std::uint32_t other = receive ? operation(o.expected).host : o.to;
  if (other == o.host || !strict(o.host, other)) return protocol::kNever;
  const bool application =
      o.kind == RequestKind::send && o.matched == 0 && !(o.target && o.target->crashed());
  const TimeNs together = contact_.together_since(o.host, other);
  if (application || together == protocol::kNever) return protocol::kNever;
  // A large message may need 1400 answers, one at a time, and ask several times for each.
  const TimeNs fetched =
      receive ? instance(o.host).views[other].fetched : instance(other).views[o.host].fetched;
  return std::max({together, o.start, o.matched, fetched});
}

void ChurnCauses::overdue_check() {
  for (const auto& pointer : operations_) {
    const Operation& o = *pointer;
    const TimeNs owed = owed_since(o);
    if (owed != protocol::kNever && world_.now() > owed + kAnswer)
      return fail(fmt::format("operation {} of host {} still waits for a peer that is there, after {} s",
                              o.id, o.host, (world_.now() - owed) / kSecond));
    const TimeNs gone = gone_since(o);
    if (gone == protocol::kNever) continue;
    const TimeNs waits = std::max({gone, o.start, o.matched, lives_[o.host].last_resume});
    // Without the extension, a NOTIFY of failure may have to wait as long again.
    const std::uint32_t other = o.kind == RequestKind::receive ? operation(o.expected).host : o.to;
    if (world_.now() > waits + timeout_ * (strict(o.host, other) ? 1 : 2) + kSlack)
      return fail(fmt::format("operation {} of host {} still waits for a peer that is gone, after {} s", o.id,
                              o.host, (world_.now() - waits) / kSecond));
  }
}

}  // namespace omx::simulation
