// SPDX-License-Identifier: BSD-3-Clause
// The calls of applications in a run of stalls.
#include "simulation/engine/stalls_calls.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace omx::simulation {

using protocol::Completion;
using protocol::Request;
using protocol::RequestKind;
using protocol::Status;

Call& StallsCalls::call_begin(RequestKind kind, std::uint32_t host, std::uint32_t other) {
  Call& c = calls_.emplace_back();
  c.id = calls_.size();
  c.kind = kind;
  c.host = host;
  c.other = other;
  c.life = current_[host];
  c.start = world_.now();
  c.ran = silence_.ran(host, (host + 1) % hosts(), world_.now());
  c.order = ++order_;
  return c;
}

void StallsCalls::connect(std::uint32_t host, std::uint32_t other) {
  Call& c = call_begin(RequestKind::connect, host, other);
  address(host, other).connecting = true;
  note(c, fmt::format("connects to {}", other));
  const auto r =
      engine(host).connect(clock(host), World::nic_of(other), 0, engine(host).config().key, 0, &c, false);
  if (!r) return fail("a connect was refused");
  c.request = *r;
}

void StallsCalls::send(std::uint32_t host, std::uint32_t other, std::size_t length, Class how) {
  Address& a = address(host, other);
  Call& m = call_begin(RequestKind::send, host, other);
  const std::uint64_t id = calls_.size();
  m.how = how;
  m.stream = a.stream;
  m.number = a.stream->sent;
  m.data.resize(length);
  random_fill(m.data, id);
  m.segment = {m.data.data(), static_cast<std::uint32_t>(length)};
  protocol::SendOp op;
  op.peer = a.peer;
  op.session = a.session;
  op.conversation = a.conversation;
  op.segments = {&m.segment, 1};
  op.match_info = id << kStallsIdShift | random_.below(kStallsTags + 1);
  op.context = &m;
  op.synchronous = how == Class::synchronous;
  op.forgotten = how == Class::forgotten;
  op.delivered = how == Class::delivered;
  op.inject = how == Class::injected;
  op.advice.hold = id % 4 == 0;
  op.advice.hold_announcement = id % 5 == 0;
  op.advice.copy_later = id % 3 == 0;
  m.ended = op.forgotten;
  note(m, fmt::format("sends {} bytes to {}, class {}, number {} of stream {}.{}", length, other,
                      static_cast<int>(how), m.number, m.life->number, m.stream->generation));
  const auto r = engine(host).send(clock(host), op);
  if (!r) {  // injected messages wait in limited memory
    if (how != Class::injected) return fail("a send was refused");
    m.ended = true;
    return;
  }
  m.request = *r;
  // The application writes to its memory as soon as it may.
  if (op.inject) std::fill(m.data.begin(), m.data.end(), std::byte{0xBB});
  m.stream->sent++;
  m.stream->messages.push_back(id);
  messages_++;
  bytes_ += length;
}

void StallsCalls::send_something(std::uint32_t host, std::uint32_t other) {
  static constexpr std::size_t kLengths[] = {0, 8, 32, 33, 128, 129, 1000, 4096, 4097, 9000, 20'000};
  std::size_t length = kLengths[random_.below(std::size(kLengths))];
  if (random_.chance(0.3)) length = random_.below(random_.chance(0.1) ? kStallsLargest : 5000);
  const std::uint64_t dice = random_.below(100);
  const Class how = dice < 55   ? Class::plain
                    : dice < 65 ? Class::synchronous
                    : dice < 75 ? Class::forgotten
                    : dice < 85 ? Class::delivered
                                : Class::injected;
  send(host, other, length, how);
}

void StallsCalls::receive(std::uint32_t host, std::optional<std::uint32_t> from, bool anything) {
  Call& r = call_begin(RequestKind::receive, host, from.value_or(host));
  if (!memory_.empty()) {
    r.data = std::move(memory_.back());
    memory_.pop_back();
  } else {
    r.data.resize(kStallsLargest);
  }
  r.segment = {r.data.data(), static_cast<std::uint32_t>(r.data.size())};
  protocol::ReceiveOp op;
  op.segments = {&r.segment, 1};
  op.match_mask = anything ? 0 : kStallsTags;
  op.match_info = random_.below(kStallsTags + 1) & op.match_mask;
  op.context = &r;
  if (from) {
    const Address& a = address(host, *from);
    op.source = a.peer;
    op.awaited = r.awaited = random_.chance(0.8);
    // The layers above the engine know which sources were given up, and pass that on.
    if (conversation_over(*a.peer, a.conversation)) op.source_gone = a.peer->session.gone;
    r.stream = a.stream;
  }
  note(r, fmt::format("receives with match {:#x} mask {:#x}{}", op.match_info, op.match_mask,
                      from ? fmt::format(" from {}", *from) : ""));
  const auto request = engine(host).receive(clock(host), op);
  if (!request) return fail("a receive was refused");
  r.request = *request;
}

void StallsCalls::probe(std::uint32_t host, std::uint32_t other) {
  const protocol::Peer* source = random_.chance(0.5) ? address(host, other).peer : nullptr;
  const std::uint64_t mask = random_.chance(0.5) ? kStallsTags : 0;
  const std::uint64_t tag = random_.below(kStallsTags + 1) & mask;
  const auto found = engine(host).probe(tag, mask, source);
  if (!found) return;
  const Call* m = message(found->match_info);
  if (!m || m->arrived == 0 || m->delivered || m->dropped != 0 || m->other != host)
    return fail(fmt::format("host {} probes a message that does not wait: {:#x}", host, found->match_info));
  if ((found->match_info & mask) != tag || (source && source != found->peer))
    fail(fmt::format("host {} probes a message that does not match: {:#x}", host, found->match_info));
}

void StallsCalls::cancel(Call& c) {
  note(c, "is cancelled");
  const auto cancelled = engine(c.host).cancel(c.request);
  if (!cancelled) return fail("a cancel was refused");
  if (!*cancelled) return;
  c.ended = true;
  c.request = nullptr;
  memory_.push_back(std::move(c.data));
}

void StallsCalls::cancel_something(std::uint32_t host) {
  Call& c = calls_[random_.below(calls_.size())];
  if (c.kind == RequestKind::receive && !c.ended && c.host == host) cancel(c);
}

void StallsCalls::reap(std::uint32_t host) {
  while (Request* r = engine(host).peek_done()) {
    const bool buffered = r->tx.buffered, large = !buffered && r->send_class == protocol::SendClass::large;
    ended(host, engine(host).consume(r), buffered, large);
  }
  while (const auto message = engine(host).lost_take()) lost(message->match_info);
}

void StallsCalls::reap_all() {
  for (std::uint32_t i = 0; i < hosts(); i++) {
    if (!runs(i)) continue;
    if (messages_ % 4 == 0) engine(i).release(clock(i));
    if (messages_ % 5 == 0) engine(i).copy_make(clock(i));
    reap(i);
    world_.host(i).deadline_check();
  }
}

// Lets time pass in pieces, so that requests that take too long are noticed.
void StallsCalls::run_for(TimeNs time) {
  while (time > 0 && !failed()) {
    const TimeNs piece = std::min(time, plan_.timeout / 8);
    world_.run_for(piece);
    time -= piece;
    if (piece > protocol::kMillisecond) overdue_check();
  }
}

}  // namespace omx::simulation
