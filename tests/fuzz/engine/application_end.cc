// SPDX-License-Identifier: BSD-3-Clause
// Memory of operations, the honest peer's program, and what must be true when the attack is over.
#include <algorithm>

#include "tests/fuzz/engine/application.h"
#include "tests/fuzz/require.h"

namespace omx::fuzz {

using protocol::Completion;
using protocol::RequestKind;
using protocol::Status;

namespace {

constexpr std::size_t kFence = 16;

}  // namespace

void Operation::allocate(std::uint32_t length, std::uint32_t pieces) {
  capacity = length;
  memory.assign(length + (pieces + 1) * kFence, kCanary);
  std::byte* base = memory.data() + kFence;
  for (std::uint32_t i = 0; i < pieces; i++) {
    const std::uint32_t piece = i + 1 < pieces ? length / pieces : length - (length / pieces) * i;
    segments.push_back({base, piece});
    base += piece + kFence;
  }
}

Bytes Operation::content() const {
  Bytes all;
  all.reserve(capacity);
  for (const protocol::Segment& s : segments) all.insert(all.end(), s.base, s.base + s.length);
  return all;
}

void Operation::fill(std::span<const std::byte> content) {
  for (const protocol::Segment& s : segments) {
    std::copy_n(content.begin(), s.length, s.base);
    content = content.subspan(s.length);
  }
}

void Operation::check_canaries() const {
  const std::byte* at = memory.data();
  const auto fence = [&] {
    REQUIRE(untouched({at, kFence}));
    at += kFence;
  };
  for (const protocol::Segment& s : segments) {
    fence();
    REQUIRE(at == s.base);
    at += s.length;
  }
  fence();
}

// --- the honest peer ---------------------------------------------------------------------------------------

void HonestProgram::send(std::uint32_t length, std::uint8_t tag, bool synchronous, bool extension) {
  Operation& op = operations_.emplace_back();
  op.kind = RequestKind::send;
  op.allocate(length, 1);
  protocol::SendOp s;
  s.partner = scene_.to_victim;
  s.match_info = to_victim_.write(length, tag);
  op.fill(Book::content(s.match_info, length));
  op.entry = &to_victim_.entries.back();
  s.segments = op.segments;
  s.context = &op;
  s.synchronous = synchronous;
  s.has_data = extension;
  const auto request = scene_.honest.endpoint.send(scene_.now, s);
  REQUIRE(request.has_value());
  op.request = *request;
}

void HonestProgram::look() {
  protocol::Endpoint& endpoint = scene_.honest.endpoint;
  for (const std::uint8_t message_class : {0, 1}) {
    while (const auto arrival = endpoint.probe(0, 0, nullptr, message_class)) {
      Operation& op = operations_.emplace_back();
      op.allocate(arrival->msg_length, 2);
      protocol::ReceiveOp r;
      r.segments = op.segments;
      r.match_mask = 0;
      r.message_class = message_class;
      r.context = &op;
      op.request = endpoint.receive(scene_.now, r).value();
    }
  }
  while (Request* r = endpoint.peek_done()) {
    auto* op = static_cast<Operation*>(endpoint.context_of(r));
    REQUIRE(op && !op->ended && op->request == r);
    op->ended = true;
    finished(*op, endpoint.consume(r));
    op->memory = {};
  }
  while (endpoint.lost_take()) REQUIRE(!scene_.setup.lossless());
}

void HonestProgram::finished(Operation& op, const Completion& c) {
  if (op.kind == RequestKind::send) {
    const bool arrived = c.status == Status::success || c.status == Status::truncated;
    if (!arrived) op.entry->failed = true;
    if (scene_.setup.lossless()) REQUIRE(arrived || c.status == Status::rejected);
    return;
  }
  op.check_canaries();
  if (scene_.setup.relaxed) return;
  REQUIRE(c.status == Status::success || !scene_.setup.lossless());
  if (c.status != Status::success) return;
  REQUIRE(c.partner == scene_.to_victim);
  Book::Entry* entry = from_victim_.find(c.match_info);
  REQUIRE(entry && !entry->delivered && entry->length == c.msg_length);
  entry->delivered = true;
  const Bytes content = op.content();
  REQUIRE(same(content, Book::content(c.match_info, content.size())));
}

// --- the end -----------------------------------------------------------------------------------------------

void Application::end_attackers() {
  ending_ = true;
  handler_ = Handler::none;
  protocol::Endpoint& endpoint = scene_.victim.endpoint;
  endpoint.set_unexpected_handler(nullptr, nullptr);
  scene_.losing = 0;
  scene_.advance(30 * kPeerTimeout / 4);
  for (Operation& op : operations_) {
    if (op.ended || !op.request) continue;
    const Partner* with = op.kind == RequestKind::receive ? op.request->partner : op.partner;
    if (honest(with)) continue;  // may wait for receives of what came before
    if (op.kind == RequestKind::send && with == endpoint.self()) continue;  // the same
    REQUIRE(op.kind == RequestKind::receive);
    const auto gone = endpoint.cancel(op.request);
    REQUIRE(gone.has_value() && *gone);
    op.ended = true;
  }
}

void Application::drain() {
  // What did not fit comes when there is room again.
  for (int quiet = 0; quiet < 10; quiet++) {
    while (const protocol::Unexpected* u = scene_.state().matching.unexpected.front()) {
      Operation& op = operations_.emplace_back();
      op.allocate(std::min<std::uint32_t>(u->msg_length, 65537), 1);
      op.match_mask = 0;
      post(op, u->message_class, false);
      look();
      quiet = 0;
    }
    scene_.advance(kPeerTimeout / 8);
  }
  scene_.advance(30 * kPeerTimeout / 4);
  for (const Operation& op : operations_) {
    if (!op.request || op.ended) continue;
    const Partner* with = op.kind == RequestKind::receive ? op.request->partner : op.partner;
    // Who has been lied to in the other's name may wait for it as long as it lives.
    REQUIRE(!lossless() && honest(with));
  }
}

void Application::exchange(HonestProgram& peer) {
  const std::size_t first = operations_.size();
  for (const std::uint32_t length : {0U, 20U, 100U, 2000U, 12000U}) {
    peer.send(length, 1, false, false);
    REQUIRE(send_to(scene_.to_honest, length, 1, 1, 0));
    Operation& op = operations_.emplace_back();
    op.allocate(length, 1);
    op.match_info = 1;
    op.match_mask = 3;
    op.partner = scene_.to_honest;
    post(op, 0, false);
  }
  scene_.advance(3 * kPeerTimeout);
  if (lossless())
    REQUIRE(std::all_of(operations_.begin() + static_cast<std::ptrdiff_t>(first), operations_.end(),
                        [](const Operation& op) { return op.ended; }));
}

void Application::check_end() {
  for (const Operation& op : operations_)
    if (op.ended) REQUIRE(untouched(op.memory));
  if (!lossless()) return;
  for (const Book* book : {&from_honest_, &to_honest_, &to_self_})
    for (const Book::Entry& e : book->entries) REQUIRE(e.delivered || e.failed);
  // Nothing is left of the attack but what waits for partners that may come back: their early messages.
  protocol::State& s = scene_.state();
  REQUIRE(s.memory.pulls.live() == 0);
  REQUIRE(s.memory.requests.live() == s.matching.posted.size());  // forgotten receives
  REQUIRE(s.matching.unexpected.size() == 0);
  REQUIRE(s.memory.send_buffers.in_use() == 0);
}

}  // namespace omx::fuzz
