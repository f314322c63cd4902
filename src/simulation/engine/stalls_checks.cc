// SPDX-License-Identifier: BSD-3-Clause
// The conditions that hold all the time in a run of stalls.
#include "simulation/engine/stalls_checks.h"

#include <fmt/format.h>

#include <algorithm>

namespace omx::simulation {

using protocol::Completion;
using protocol::RequestKind;
using protocol::Status;

namespace {
std::uint32_t host_of(const protocol::Peer& peer) {
  return static_cast<std::uint32_t>(peer.nic - World::nic_of(0));
}
}  // namespace

void StallsObserver::on_arrival(const protocol::Peer& from, std::uint64_t info, const protocol::Request*) {
  run_.arrived(host_, from, info);
}

void StallsObserver::on_dropped(const protocol::Peer&, std::uint64_t info) {
  run_.dropped(info);
}

void StallsObserver::on_forget(const protocol::Peer& peer, protocol::Cleanup) {
  run_.forgot(host_, peer);
}

StallsChecks::StallsChecks(const RunOptions& options, std::uint32_t key)
    : options_(options),
      plan_(stalls_plan(options.seed, key, steps(options))),
      random_(options.seed),
      world_(plan_.world),
      silence_(static_cast<std::uint32_t>(plan_.hosts.size()), plan_.timeout, plan_.talk),
      current_(plan_.hosts.size()),
      addresses_(plan_.hosts.size() * plan_.hosts.size()),
      stalls_(plan_.hosts.size()) {
  if (options.trace) {
    trace_.emplace(options.trace);
    world_.trace_to(&*trace_);
  }
}

void StallsChecks::fail(const std::string& text) {
  if (failure_.empty()) failure_ = text;
  if (trace_) trace_->line(world_.now(), "FAILURE: " + text);
}

void StallsChecks::note(const Call& c, const std::string& text) {
  if (trace_) trace_->line(world_.now(), fmt::format("call {} of {}: {}", c.id, c.host, text));
}

bool StallsChecks::conversation_over(const protocol::Peer& peer, std::uint32_t conversation) {
  return !peer.connected() || peer.session.conversation != conversation;
}

Call* StallsChecks::message(std::uint64_t info) {
  const std::uint64_t id = info >> kStallsIdShift;
  if (id == 0 || id > calls_.size() || calls_[id - 1].kind != RequestKind::send) return nullptr;
  return &calls_[id - 1];
}

void StallsChecks::arrived(std::uint32_t host, const protocol::Peer& from, std::uint64_t info) {
  Call* m = message(info);
  if (!m) return fail(fmt::format("a message arrived that no host sent: {:#x}", info));
  const std::uint64_t id = info >> kStallsIdShift;
  Stream& s = *m->stream;
  if (m->arrived != 0) return fail(fmt::format("message {} arrived twice", id));
  m->arrived = ++order_;
  if (s.to != current_[host] || host_of(from) != m->host)
    return fail(fmt::format("message {} came from the wrong host or to another endpoint", id));
  if (m->number != s.arrived)
    return fail(fmt::format("hole: message {} from {} to {} arrived as number {} where {} is next", id,
                            m->host, host, m->number, s.arrived));
  s.arrived++;
  std::uint32_t& newest = newest_[s.from->number][host];
  if (s.generation < newest)
    return fail(
        fmt::format("message {} of stream {} arrived after one of stream {}", id, s.generation, newest));
  newest = s.generation;
}

void StallsChecks::heard(std::uint32_t host, std::uint32_t from) {
  address(host, from).heard = silence_.ran(host, from, world_.now());
}

void StallsChecks::dropped(std::uint64_t info) {
  Call* m = message(info);
  if (!m || m->arrived == 0 || m->delivered || m->dropped != 0)
    return fail(fmt::format("message {:#x} was dropped and does not wait", info));
  m->dropped = ++order_;
}

void StallsChecks::forgot(std::uint32_t host, const protocol::Peer& peer) {
  Address& a = address(host, host_of(peer));
  if (trace_) trace_->line(world_.now(), fmt::format("{} forgets {}", host, host_of(peer)));
  a.last_forgotten = world_.now();
  if (a.stream && a.forgotten == 0) a.forgotten = world_.now();
}

void StallsChecks::lost(std::uint64_t info) {
  Call* m = message(info);
  if (!m || !m->ended || m->lost)
    return fail(fmt::format("message {:#x} is reported as lost and pending", info));
  m->lost = true;
  note(*m, "is lost");
  if (!m->stream->to->over && !explained(m->host, m->other, m->stream->begun))
    fail(fmt::format("message {} was lost without a silence", m->id));
}

bool StallsChecks::explained(std::uint32_t a, std::uint32_t b, TimeNs begun) {
  return !faults_over_ && silence_.excused(a, b, world_.now()) >= begun;
}

// Notes the address from a successful connect, or from a message of a peer whose address is not known.
void StallsChecks::address_learn(std::uint32_t host, std::uint32_t other, const Completion& c, TimeNs begun) {
  Address& a = address(host, other);
  const auto life = by_session_.find(c.session);
  if (life == by_session_.end() || life->second->host != other)
    return fail(
        fmt::format("host {} learns the session {:#x} of {}, which has none such", host, c.session, other));
  const bool same = a.stream && a.conversation == c.conversation && a.session == c.session;
  if (same && !a.stream->failed) return;
  if (same && c.kind != RequestKind::connect) return;
  a.peer = c.peer;
  a.session = c.session;
  a.conversation = c.conversation;
  a.usable = true;
  a.forgotten = conversation_over(*c.peer, c.conversation) ? a.last_forgotten : 0;
  a.stream = &streams_.emplace_back();
  a.stream->from = current_[host];
  a.stream->to = life->second;
  a.stream->generation = ++a.streams;
  a.stream->begun = begun;
}

void StallsChecks::address_failed(std::uint32_t host, std::uint32_t other) {
  Address& a = address(host, other);
  if (!a.usable) return;
  a.usable = false;
  a.again = random_.chance(0.6);
}

void StallsChecks::stream_failed(Stream& stream, std::uint64_t number) {
  stream.failed_at = stream.failed ? std::min(stream.failed_at, number) : number;
  stream.failed = true;
  const Address& a = address(stream.from->host, stream.to->host);
  if (a.stream == &stream) address_failed(stream.from->host, stream.to->host);
  if (stream.to->over || explained(stream.from->host, stream.to->host, stream.begun)) return;
  fail(fmt::format("the stream {} from {} to {} failed without a silence", stream.generation,
                   stream.from->host, stream.to->host));
}

void StallsChecks::connect_ended(Call& c, const Completion& completion) {
  Address& a = address(c.host, c.other);
  a.connecting = false;
  if (completion.status == Status::success) return address_learn(c.host, c.other, completion, world_.now());
  if (!a.usable) a.again = random_.chance(0.7);
  // The peer's last endpoint may have answered before it ended.
  const bool restarted = std::any_of(lives_.begin(), lives_.end(),
                                     [&](const Life& life) { return life.host == c.other && life.over; });
  if (restarted || explained(c.host, c.other, c.start)) return;
  fail(fmt::format("a connect from {} to {} ended with status {} without a silence", c.host, c.other,
                   static_cast<int>(completion.status)));
}

void StallsChecks::send_ended(Call& m, Status status, bool buffered, bool large) {
  if (status != Status::success) return stream_failed(*m.stream, m.number);
  // A message that is complete may still fail in the queue of completions that the application has not yet
  // seen.
  if (m.stream->failed && m.number >= m.stream->failed_at)
    return fail(fmt::format("send {} ended with success after an error of an earlier message", m.id));
  if (large && !m.delivered)
    return fail(fmt::format("send {} ended with success and was not delivered", m.id));
  if ((!buffered || m.how == Class::delivered) && m.arrived == 0)
    return fail(fmt::format("send {} ended with success and has not arrived", m.id));
}

// Checks that no message before a delivered one was lost without an error.
void StallsChecks::delivered(Call& m, const Call& receive, const Completion& completion) {
  if (m.delivered) return fail(fmt::format("message {} was delivered twice", m.id));
  m.delivered = true;
  if (m.arrived == 0 || m.dropped != 0 || m.other != receive.host)
    return fail(fmt::format("message {} was delivered and did not wait", m.id));
  std::vector<std::byte> sent(m.data.size());
  random_fill(sent, m.id);
  if (completion.msg_length != sent.size() || completion.xfer_length != sent.size() ||
      !std::equal(sent.begin(), sent.end(), receive.data.begin()))
    return fail(fmt::format("message {} of {} bytes arrived damaged", m.id, m.data.size()));
  const std::uint64_t matched = std::max(m.arrived, receive.order);
  for (std::uint64_t i = 0; i < m.number; i++) {
    const Call& before = calls_[m.stream->messages[i] - 1];
    if (before.dropped != 0 && before.dropped < matched)
      return fail(
          fmt::format("hole: message {} was delivered, message {} before it was dropped", m.id, before.id));
  }
}

void StallsChecks::receive_ended(Call& r, const Completion& c) {
  const bool well = c.status == Status::success;
  // A receive that names its source may end before a message is found for it.
  Call* m = message(c.match_info);
  const bool matched = m && m->arrived != 0 && (well || c.msg_length == m->data.size());
  if (well && !matched) return fail("a receive succeeded without a message");
  if (well) {
    delivered(*m, r, c);
    if (failed()) return;
    const Address& a = address(r.host, m->host);
    const bool unknown = !a.usable;
    if (unknown && !a.connecting && !m->life->over && random_.chance(0.5))
      address_learn(r.host, m->host, c, m->stream->begun);
  } else if (matched) {
    m->reported = true;
    if (!m->life->over && !m->stream->to->over && !explained(r.host, m->host, m->stream->begun))
      return fail(fmt::format("the receive of message {} failed without a silence", m->id));
    if (address(r.host, m->host).conversation == c.conversation) address_failed(r.host, m->host);
  } else if (r.stream) {
    stream_failed(*r.stream, 0);
  } else {
    return fail(fmt::format("a receive from any source ended with status {}", static_cast<int>(c.status)));
  }
}

void StallsChecks::ended(std::uint32_t host, const Completion& c, bool buffered, bool large) {
  Call& call = *static_cast<Call*>(c.context);
  if (call.ended || call.host != host || call.kind != c.kind)
    return fail(fmt::format("a call of host {} ended twice or as another", host));
  call.ended = true;
  call.request = nullptr;
  call.well = c.status == Status::success;
  note(call, fmt::format("ends with status {}", static_cast<int>(c.status)));
  switch (c.kind) {
    case RequestKind::receive:
      receive_ended(call, c);
      memory_.push_back(std::move(call.data));
      return;
    case RequestKind::connect:
      return connect_ended(call, c);
    case RequestKind::send:
      // The application writes to its memory as soon as the send has ended.
      std::fill(call.data.begin(), call.data.end(), std::byte{0xBB});
      return send_ended(call, c.status, buffered, large);
  }
}

void StallsChecks::overdue_check() {
  const TimeNs limit = plan_.timeout + plan_.timeout / 2;
  for (const Call& c : calls_) {
    if (c.ended || (c.kind == RequestKind::receive && !c.awaited)) continue;
    const TimeNs since = std::max(c.ran, address(c.host, c.other).heard);
    if (runs(c.host) && silence_.ran(c.host, c.other, world_.now()) > since + limit)
      return fail(
          fmt::format("call {} of host {} still waits for {}, which is silent", c.id, c.host, c.other));
    const bool parked = c.kind == RequestKind::send && c.request && c.request->tx.parked;
    const bool application = c.kind == RequestKind::receive || c.how == Class::synchronous || parked ||
                             c.data.size() > world_.host(c.host).options().config.rndv_threshold;
    if (application || !runs(c.host)) continue;
    const TimeNs together = silence_.together(c.host, c.other, world_.now());
    if (std::min(together, world_.now() - c.start) > plan_.timeout)
      return fail(
          fmt::format("call {} of host {} still waits for {}, which is there", c.id, c.host, c.other));
  }
}

}  // namespace omx::simulation
