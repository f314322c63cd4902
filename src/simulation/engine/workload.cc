// SPDX-License-Identifier: BSD-3-Clause
#include "simulation/engine/workload.h"

#include <fmt/format.h>

#include <algorithm>

#include "protocol/state/peer.h"

namespace omx::simulation {

using protocol::Request;
using protocol::RequestKind;

Workload::Workload(const RunOptions& options, RandomNetwork network, std::uint32_t key)
    : WorkloadChecks(options, std::move(network), key) {
  if (options.trace) {
    trace_.emplace(options.trace);
    world_.trace_to(&*trace_);
  }
  world_.on_activity([this](SimHost& host) { reap(host); });
  world_.faults().plan = network_.faults;
  // Enough for 8-bit frame numbers to wrap twice at MTU 1500. Not in every run, as it takes time.
  largest_ = random_.chance(0.15) ? 800'000 : 120'000;
  current_.resize(network_.hosts.size());
  undelivered_.resize(network_.hosts.size());
  for (HostOptions host : network_.hosts) {
    observers_.push_back(std::make_unique<HostObserver>(*this, world_.host_count()));
    host.config.observer = observers_.back().get();
    world_.add(host);
    instance_create(world_.host_count() - 1);
  }
}

Instance& Workload::instance_create(std::uint32_t host) {
  const std::uint32_t session = engine(host).config().session;
  instances_.push_back(std::make_unique<Instance>(host, session, network_.hosts.size(), world_.now()));
  current_[host] = by_session_[session] = instances_.back().get();
  return *current_[host];
}

bool Workload::relaxed() const {
  return std::any_of(network_.hosts.begin(), network_.hosts.end(),
                     [](const HostOptions& h) { return !h.config.extension; });
}

Operation& Workload::operation_begin(RequestKind kind, std::uint32_t host) {
  auto& o = *operations_.emplace_back(std::make_unique<Operation>());
  o.kind = kind;
  o.id = operations_.size();
  o.host = host;
  o.instance = current_[host];
  o.start = world_.now();
  return o;
}

void Workload::connect(std::uint32_t host, std::uint32_t to, bool bad_key) {
  Operation& c = operation_begin(RequestKind::connect, host);
  c.to = to;
  c.bad_key = bad_key;
  c.losses = current_[host]->views[to].losses;
  note(c, fmt::format("connects to {}{}", to, bad_key ? " with a wrong key" : ""));
  const auto r =
      engine(host).connect(clock(host), World::nic_of(to), 0, bad_key ? key_ + 1 : key_, 0, &c, false);
  if (!r) return fail("a connect was refused");
  c.request = *r;
}

void Workload::send(std::uint32_t host, std::uint32_t to, protocol::Peer* peer, const SendWish& wish) {
  Operation& m = operation_begin(RequestKind::send, host);
  m.to = to;
  m.data.resize(wish.length);
  random_fill(m.data, m.id);
  operation_split(m, random_);
  m.info = m.id << kIdShift | random_.below(4);
  protocol::SendOp op;
  op.peer = peer;
  op.segments = m.segments;
  op.match_info = m.info;
  op.context = &m;
  op.synchronous = wish.synchronous;
  op.forgotten = wish.forgotten;
  op.session = wish.session;
  op.advice.hold = m.id % 4 != 0;
  op.advice.hold_announcement = m.id % 5 != 0;
  op.advice.copy_later = m.id % 3 == 0;
  m.stale = op.session != wire::kUnknownSession && op.session != peer->session.true_session;
  const auto target = by_session_.find(peer->session.true_session);
  m.target = target == by_session_.end() ? nullptr : target->second;
  m.losses = current_[host]->views[to].losses;
  messages_++;
  bytes_ += m.data.size();
  undelivered_[to]++;
  m.ended = op.forgotten;
  note(m, fmt::format("sends {} bytes to {}, match {:#x}{}{}", m.data.size(), to, m.info,
                      wish.synchronous ? ", synchronously" : "", wish.forgotten ? ", and forgets it" : ""));
  const auto r = engine(host).send(clock(host), op);
  if (!r) return fail("a send was refused");
  m.request = *r;
}

void Workload::receive(std::uint32_t host, bool anything) {
  Operation& r = operation_begin(RequestKind::receive, host);
  r.data.assign(anything || random_.chance(0.8) ? largest_ : random_.below(3000), std::byte{0xEE});
  operation_split(r, random_);
  const protocol::Peer* source = nullptr;
  if (!anything && random_.chance(0.7)) {
    r.mask = random_.chance(0.8) ? kTagMask : 1;
    r.info = random_.below(4) & r.mask;
    if (random_.chance(0.2)) source = current_[host]->views[any_host()].peer;
  }
  protocol::ReceiveOp op;
  op.segments = r.segments;
  op.match_info = r.info;
  op.match_mask = r.mask;
  op.source = source;
  op.context = &r;
  note(r, fmt::format("receives up to {} bytes, match {:#x} mask {:#x}{}", r.data.size(), r.info, r.mask,
                      source ? " of one source" : ""));
  Instance& at = *current_[host];
  const auto taken = at.matching.post({r.id, r.info, r.mask, source});
  r.waiting = !taken;
  if (taken) message_matched(r, *taken);
  const auto request = engine(host).receive(clock(host), op);
  if (!request) return fail("a receive was refused");
  r.request = *request;
  if (!taken) at.posted[r.request] = r.id;
}

void Workload::cancel(Operation& o, bool complete) {
  const Request* request = o.request;
  Instance& at = *o.instance;
  o.cancelled = o.waiting;
  note(o, "is cancelled");
  const auto cancelled = engine(o.host).cancel(o.request, complete);
  if (!cancelled || *cancelled != o.waiting)
    return fail(fmt::format("cancel of receive {} says {}", o.id, cancelled ? int{*cancelled} : -1));
  if (!*cancelled) return;
  at.matching.cancel(o.id);
  at.posted.erase(request);
  o.waiting = false;
  if (!complete) o.ended = true;
}

void Workload::reap_all() {
  for (std::uint32_t i = 0; i < hosts(); i++) {
    if (!world_.host(i).alive()) continue;
    // Bursts end at some calls and not at others.
    if (messages_ % 4 == 0) world_.host(i).engine().release(world_.host(i).clock());
    if (messages_ % 5 == 0) world_.host(i).engine().copy_make(world_.host(i).clock());
    reap(world_.host(i));
    world_.host(i).deadline_check();
  }
}

void Workload::receives_cancel() {
  for (const auto& o : operations_) {
    if (o->ended || o->kind != RequestKind::receive || o->instance->crashed()) continue;
    if (!o->waiting) return fail(fmt::format("receive {} was matched and never ended", o->id));
    cancel(*o, false);
  }
}

RunResult Workload::run() {
  act();
  return run_result(world_, failure_, messages_, bytes_);
}

}  // namespace omx::simulation
