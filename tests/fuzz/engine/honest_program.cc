// SPDX-License-Identifier: BSD-3-Clause
#include "tests/fuzz/engine/honest_program.h"

#include <algorithm>

#include "tests/fuzz/require.h"

namespace omx::fuzz {

using protocol::Completion;
using protocol::RequestKind;
using protocol::Status;

void HonestProgram::send(std::uint32_t length, std::uint8_t tag, bool synchronous, bool extension) {
  Operation& op = operations_.emplace_back();
  op.kind = RequestKind::send;
  op.allocate(length, 1);
  protocol::SendOp s;
  s.peer = scene_.to_victim;
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
  REQUIRE(c.peer == scene_.to_victim);
  Book::Entry* entry = from_victim_.find(c.match_info);
  REQUIRE(entry && !entry->delivered && entry->length == c.msg_length);
  entry->delivered = true;
  const Bytes content = op.content();
  REQUIRE(same(content, Book::content(c.match_info, content.size())));
}

}  // namespace omx::fuzz
