// SPDX-License-Identifier: BSD-3-Clause
#include "tests/fuzz/engine/application.h"

#include <algorithm>

#include "tests/fuzz/require.h"

namespace omx::fuzz {

using protocol::Completion;
using protocol::RequestKind;
using protocol::Status;

namespace {

constexpr std::size_t kOperationsMax = 200, kMemoryMax = 256 << 10;
constexpr std::uint64_t kTagMask = 3;

bool arrived_whole(Status status) {
  return status == Status::success || status == Status::truncated;
}

}  // namespace

Peer* Application::attacker(std::uint8_t which) {
  return scene_.victim.endpoint.find_peer(kAttackerNic + (which & 1), 0);
}

Operation* Application::create(RequestKind kind, std::uint32_t length, std::uint32_t pieces) {
  if (!ending_ && (operations_.size() >= kOperationsMax || memory_ + length > kMemoryMax)) return nullptr;
  memory_ += length;
  Operation& op = operations_.emplace_back();
  op.kind = kind;
  op.allocate(length, pieces);
  return &op;
}

void Application::post(Operation& op, std::uint8_t message_class, bool forgotten) {
  protocol::ReceiveOp r;
  r.segments = op.segments;
  r.match_info = op.match_info;
  r.match_mask = op.match_mask;
  r.source = op.peer;
  r.message_class = message_class;
  r.forgotten = forgotten;
  r.context = &op;
  const auto request = scene_.victim.endpoint.receive(scene_.now, r);
  REQUIRE(request.has_value());
  op.request = *request;
}

void Application::receive(Script& script) {
  const std::uint8_t how = script.u8(), what = script.u8();
  Peer* sources[] = {nullptr, attacker(0), attacker(1), scene_.to_honest};
  const std::uint64_t masks[] = {kTagMask, 0, ~std::uint64_t{0}, kTagMask};
  Operation* op = create(RequestKind::receive, kLengths[what & 15], 1 + (what >> 4 & 3));
  if (!op) return;
  op->peer = sources[how >> 4 & 3];
  op->match_mask = masks[how >> 2 & 3];
  op->match_info = (how & 3) & op->match_mask;
  // A forgotten receive does not report the message that it took, so every message must have another receive.
  post(*op, how >> 6 & 1, (how & 128) && op->peer && !honest(op->peer));
}

bool Application::send_to(Peer* to, std::uint32_t length, std::uint32_t pieces, std::uint8_t tag,
                          std::uint8_t how) {
  Operation* op = create(RequestKind::send, length, pieces);
  if (!op) return false;
  op->peer = to;
  op->match_info = tag;
  Book* book = honest(to) ? &to_honest_ : to == scene_.victim.endpoint.self() ? &to_self_ : nullptr;
  if (book) {
    op->match_info = book->write(length, tag);
    op->entry = &book->entries.back();
    op->fill(Book::content(op->match_info, length));
  } else {
    op->fill(Bytes(length, kPublic));
  }
  protocol::SendOp s;
  s.peer = to;
  s.segments = op->segments;
  s.match_info = op->match_info;
  s.context = op;
  s.synchronous = how & 1;
  if (how & 2) {
    s.message_class = 1;
    s.has_data = true;
    s.data = 0x4142434445464748;
  }
  if ((how & 4) && !book) s.session = 0x1234;
  s.forgotten = (how & 8) && !book;
  s.advice.hold = how & 16;
  const auto request = scene_.victim.endpoint.send(scene_.now, s);
  REQUIRE(request.has_value());
  op->request = *request;
  return true;
}

void Application::send(Script& script) {
  const std::uint8_t how = script.u8(), what = script.u8();
  Peer* targets[] = {attacker(0), attacker(1), scene_.to_honest, scene_.victim.endpoint.self()};
  Peer* to = targets[how & 3];
  if (to)
    send_to(to, kLengths[how >> 2 & 15], 1 + (what >> 4 & 3), what & 3,
            static_cast<std::uint8_t>(how >> 6 | (what & 12) | (what >> 2 & 16)));
}

void Application::connect(Script& script) {
  const std::uint8_t how = script.u8();
  Operation* op = create(RequestKind::connect, 0, 1);
  if (!op) return;
  const bool to_honest = how & 2;
  const auto r = scene_.victim.endpoint.connect(scene_.now, to_honest ? kHonestNic : kAttackerNic + (how & 1),
                                                to_honest ? kHonestEndpoint : 0, how & 4 ? 99 : kKey,
                                                how >> 4, op, how & 8);
  if (!r) {
    REQUIRE(r.error() == protocol::OpError::no_resources);
    op->ended = true;
    return;
  }
  op->request = *r;
  if (op->request) op->peer = to_honest ? scene_.to_honest : attacker(how);
}

Operation* Application::pick(Script& script) {
  const std::uint8_t n = script.u8();
  std::size_t live = 0;
  for (Operation& op : operations_) live += op.request && !op.ended;
  if (live == 0) return nullptr;
  std::size_t skip = n % live;
  for (Operation& op : operations_)
    if (op.request && !op.ended && skip-- == 0) return &op;
  return nullptr;
}

void Application::cancel(Script& script) {
  Operation* op = pick(script);
  const bool complete = script.u8() & 1;
  if (!op) return;
  const auto gone = scene_.victim.endpoint.cancel(op->request, complete);
  REQUIRE(gone.has_value() == (op->kind != RequestKind::send));
  if (gone && *gone && !complete) op->ended = true;
}

void Application::probe(Script& script) {
  const std::uint8_t how = script.u8();
  Peer* sources[] = {nullptr, attacker(0), attacker(1), scene_.to_honest};
  const auto found = scene_.victim.endpoint.probe(how & 3, how & 4 ? ~std::uint64_t{0} : kTagMask,
                                                  sources[how >> 4 & 3], how >> 6 & 1);
  if (found && sources[how >> 4 & 3]) REQUIRE(found->peer == sources[how >> 4 & 3]);
}

void Application::disconnect(Script& script) {
  if (Peer* p = attacker(script.u8())) scene_.victim.endpoint.disconnect(scene_.now, p);
}

void Application::handler(Script& script) {
  handler_ = static_cast<Handler>(script.u8() % static_cast<unsigned>(Handler::count));
  scene_.victim.endpoint.set_unexpected_handler(handler_ == Handler::none ? nullptr : arrived, this);
}

void Application::timeout(Script& script) {
  Operation* op = pick(script);
  constexpr TimeNs kTimeouts[] = {1, 50, 1000, 3000};
  const TimeNs time = kTimeouts[script.u8() & 3] * kMillisecond;
  // All messages of the honest peer must arrive.
  if (op && op->peer && !honest(op->peer)) scene_.victim.endpoint.set_timeout(op->request, time);
}

protocol::HandlerAction Application::arrived(void* context, const protocol::Arrival& arrival) {
  auto& self = *static_cast<Application*>(context);
  protocol::Endpoint& endpoint = self.scene_.victim.endpoint;
  const bool attacker = !self.honest(arrival.peer) && arrival.peer != endpoint.self();
  Handler what = self.handler_;
  if (what == Handler::finished_attackers) what = attacker ? Handler::finished : Handler::proceed;
  if (what == Handler::disconnect && attacker) endpoint.disconnect(self.scene_.now, arrival.peer);
  if (what == Handler::post) {
    if (Operation* op =
            self.create(RequestKind::receive, std::min<std::uint32_t>(arrival.msg_length, 100000), 1)) {
      op->match_info = arrival.match_info;
      op->match_mask = ~std::uint64_t{0};
      op->peer = arrival.peer;
      self.post(*op, 0, false);
    }
  }
  if (what == Handler::send && arrival.peer != endpoint.self()) self.send_to(arrival.peer, 33, 1, 1, 0);
  if (arrival.data) [[maybe_unused]]
    const Bytes whole(arrival.data, arrival.data + arrival.msg_length);
  if (what != Handler::finished) return protocol::HandlerAction::proceed;
  self.consumed(arrival);
  return protocol::HandlerAction::finished;
}

// Counts a message that the handler took as delivered.
void Application::consumed(const protocol::Arrival& arrival) {
  Book& book = arrival.peer == scene_.victim.endpoint.self() ? to_self_ : from_honest_;
  if (!strict() || (!honest(arrival.peer) && &book != &to_self_)) return;
  Book::Entry* entry = book.find(arrival.match_info);
  REQUIRE(entry && !entry->delivered && entry->length == arrival.msg_length);
  entry->delivered = true;
}

void Application::look() {
  protocol::Endpoint& endpoint = scene_.victim.endpoint;
  while (Request* r = endpoint.peek_done()) {
    auto* op = static_cast<Operation*>(endpoint.context_of(r));
    REQUIRE(op && !op->ended && op->request == r);
    ended(*op, endpoint.consume(r));
  }
  while (const auto lost = endpoint.lost_take()) REQUIRE(!lossless() || !honest(lost->peer));
  while (endpoint.news_take()) {
  }
}

void Application::ended(Operation& op, const Completion& c) {
  REQUIRE(c.kind == op.kind);
  REQUIRE(c.status != Status::pending);
  op.ended = true;
  op.check_canaries();
  if (op.kind == RequestKind::receive) check_received(op, c);
  if (op.kind == RequestKind::send) {
    REQUIRE(c.peer == op.peer);
    REQUIRE(c.xfer_length <= op.capacity);
    if (op.entry && !arrived_whole(c.status)) op.entry->failed = true;
    const bool rejected = c.status == Status::rejected;  // its message class cannot be expressed
    if (lossless() && honest(op.peer)) REQUIRE(rejected || arrived_whole(c.status));
  }
  // The memory is the application's again. A later read or write of it is noticed.
  std::fill(op.memory.begin(), op.memory.end(), kCanary);
}

void Application::check_received(Operation& op, const Completion& c) {
  if (c.status == Status::cancelled) return;
  REQUIRE(c.peer);
  REQUIRE(!op.peer || c.peer == op.peer);
  REQUIRE((c.match_info & op.match_mask) == op.match_info);
  REQUIRE(c.xfer_length <= op.capacity && c.xfer_length <= c.msg_length);
  if (!arrived_whole(c.status)) {
    REQUIRE(c.xfer_length == 0);
    REQUIRE(!lossless() || !honest(c.peer));
    return;
  }
  REQUIRE(c.xfer_length == std::min(c.msg_length, op.capacity));
  REQUIRE((c.status == Status::truncated) == (c.xfer_length < c.msg_length));
  const Bytes all = op.content();
  const auto content = std::span(all).first(c.xfer_length);
  REQUIRE(untouched(std::span(all).subspan(c.xfer_length)));
  const bool self = c.peer == scene_.victim.endpoint.self();
  if (!strict() || (!self && !honest(c.peer))) return;
  Book::Entry* entry = (self ? to_self_ : from_honest_).find(c.match_info);
  REQUIRE(entry && !entry->delivered && entry->length == c.msg_length);
  entry->delivered = true;
  REQUIRE(same(content, Book::content(c.match_info, c.xfer_length)));
}

}  // namespace omx::fuzz
