// SPDX-License-Identifier: BSD-3-Clause
#include "tests/fuzz/engine/victim_program.h"

#include <algorithm>

#include "tests/fuzz/require.h"

namespace omx::fuzz {

using protocol::Completion;
using protocol::RequestKind;
using protocol::Status;

void VictimProgram::end_attackers() {
  ending_ = true;
  handler_forget();
  protocol::Endpoint& endpoint = scene_.victim.endpoint;
  endpoint.set_unexpected_handler(nullptr, nullptr);
  scene_.losing = 0;
  scene_.advance(30 * kPeerTimeout / 4);
  for (Operation& op : operations_) {
    if (op.ended || !op.request) continue;
    const Peer* with = op.kind == RequestKind::receive ? op.request->peer : op.peer;
    if (honest(with)) continue;  // may wait for receives of earlier messages
    if (op.kind == RequestKind::send && with == endpoint.self()) continue;  // may wait likewise
    REQUIRE(op.kind == RequestKind::receive);
    const auto gone = endpoint.cancel(op.request);
    REQUIRE(gone.has_value() && *gone);
    op.ended = true;
  }
}

void VictimProgram::drain() {
  // Messages that had no room come when there is room again.
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
    const Peer* with = op.kind == RequestKind::receive ? op.request->peer : op.peer;
    // A peer that got forged frames in the other's name may wait for it as long as it lives.
    REQUIRE(!lossless() && honest(with));
  }
}

void VictimProgram::exchange(HonestProgram& peer) {
  const std::size_t first = operations_.size();
  for (const std::uint32_t length : {0U, 20U, 100U, 2000U, 12000U}) {
    peer.send(length, 1, false, false);
    REQUIRE(send_to(scene_.to_honest, length, 1, 1, 0));
    Operation& op = operations_.emplace_back();
    op.allocate(length, 1);
    op.match_info = 1;
    op.match_mask = 3;
    op.peer = scene_.to_honest;
    post(op, 0, false);
  }
  scene_.advance(3 * kPeerTimeout);
  if (lossless())
    REQUIRE(std::all_of(operations_.begin() + static_cast<std::ptrdiff_t>(first), operations_.end(),
                        [](const Operation& op) { return op.ended; }));
}

void VictimProgram::check_end() {
  for (const Operation& op : operations_)
    if (op.ended) REQUIRE(untouched(op.memory));
  if (!lossless()) return;
  for (const Book* book : {&from_honest_, &to_honest_, &to_self_})
    for (const Book::Entry& e : book->entries) REQUIRE(e.delivered || e.failed);
  // Nothing is left of the attack except what waits for peers that may come back: their reordered messages.
  protocol::State& s = scene_.state();
  REQUIRE(s.memory.pulls.live() == 0);
  REQUIRE(s.memory.requests.live() == s.matching.posted.size());  // forgotten receives
  REQUIRE(s.matching.unexpected.size() == 0);
  REQUIRE(s.memory.send_buffers.in_use() == 0);
}

}  // namespace omx::fuzz
