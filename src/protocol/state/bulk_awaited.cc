// SPDX-License-Identifier: BSD-3-Clause
#include "protocol/state/bulk_awaited.h"

#include <algorithm>

#include "protocol/state/arrivals.h"
#include "protocol/state/bulk_types.h"
#include "protocol/state/peer.h"
#include "protocol/state/pull.h"
#include "protocol/state/pull_slots.h"
#include "protocol/state/reorder_buffer.h"
#include "protocol/state/state.h"
#include "wire/udp_bulk.h"

namespace omx::protocol {

namespace {

constexpr TimeNs kLook = 1 * kMillisecond;
// An announcement follows right behind its message.
constexpr TimeNs kBehind = kMillisecond / 10;
constexpr TimeNs kTick = 10'000;

// Returns the pull that the answer belongs to, if some of it is still to come by the bulk path; else nullptr.
// A repeated request may cover only a part of a block.
Pull* answer_due(State& s, std::uint32_t answer) {
  Pull* const pull = pull_of_slot(s, answer);
  if (!pull || !pull->by_bulk || !pull->peer->bulk.in) return nullptr;
  const std::uint32_t last = answer - 1;
  for (std::uint32_t i = 0; i < pull->block_count; i++) {
    const PullBlock& block = pull->block(i);
    const std::uint32_t at = (last - block.first) & wire::kBulkAnswerFrame;
    if (at < block.frames) return block.missing << (63 - at) ? pull : nullptr;
  }
  return nullptr;
}

void answer_await(BulkAwaited& w, std::uint32_t answer, const Pull& pull) {
  w.progress = std::max(w.progress, pull.last_reply);
  const auto end = w.answers.begin() + static_cast<std::ptrdiff_t>(w.answer_count);
  if (std::find(w.answers.begin(), end, answer) != end) return;
  if (w.answer_count < w.answers.size())
    w.answers[w.answer_count++] = answer;
  else
    w.more = true;
}

// Counts a message (1) or its announcement (-1). If one of the two was lost, the other is soon forgotten.
void pair_count(State& s, Peer& p, int by) {
  constexpr int kMost = 100;
  // A peer has room for 16 bits of time. Once in some thousand they show an old pair as a new one, which
  // costs one poll more or less.
  const auto now = static_cast<std::uint16_t>(s.now / kTick);
  const TimeNs since = TimeNs{static_cast<std::uint16_t>(now - p.bulk.unannounced_at)} * kTick;
  if (since >= (p.bulk.unannounced > 0 ? kBehind : kLook)) p.bulk.unannounced = 0;
  p.bulk.unannounced = static_cast<std::int8_t>(std::clamp(p.bulk.unannounced + by, -kMost, kMost));
  p.bulk.unannounced_at = now;
}

// Returns whether the message, or one before it, is still to come.
bool message_due(const BulkAwaited::Message& m) {
  return seq_same_session(m.number, m.from->counting.next_match) &&
         seq_diff(m.number, m.from->counting.next_match) <= kReorderNumbers;
}

}  // namespace

void bulk_announced(State& s, Peer& p, std::uint32_t answer) {
  if (!p.bulk.address.present()) return;
  if (answer != 0) {
    const Pull* const pull = answer_due(s, answer);
    if (!pull || pull->peer != &p) return;  // the data came before the announcement
    BulkAwaited& w = s.bulk.awaited;
    if (s.now >= w.until) w = {};
    w.until = s.now + kLook;
    return answer_await(w, answer, *pull);
  }
  pair_count(s, p, -1);
  if (p.bulk.unannounced < 0) bulk_expected(s, p);  // else the message came before the announcement
}

void bulk_expected(State& s, Peer& p, std::optional<Seqnum> message) {
  if (!p.bulk.address.present()) return;
  BulkAwaited& w = s.bulk.awaited;
  if (s.now >= w.until) w = {};
  w.until = s.now + kLook;
  std::size_t i = 0;
  while (i < w.count && w.messages[i].from != &p) i++;
  if (message && i < w.messages.size()) {
    w.messages[i] = {&p, *message};
    w.count = std::max(w.count, i + 1);
  } else {
    w.replies = true;
  }
}

void bulk_came_unannounced(State& s, Peer& p) {
  pair_count(s, p, 1);
}

bool bulk_awaited(State& s, TimeNs now) {
  BulkAwaited& w = s.bulk.awaited;
  if (now >= w.until) return false;
  if (w.replies || w.more || w.answer_count > 0) return true;
  while (w.count > 0 && !message_due(w.messages[w.count - 1])) w.count--;
  if (w.count == 0) w.until = 0;
  return w.count > 0;
}

namespace {

// Returns the peer whose message comes by the bulk path next; nullptr: not known.
Peer* medium_sender(State& s) {
  const BulkAwaited& w = s.bulk.awaited;
  if (!bulk_awaited(s, s.now) || w.replies || w.more || w.answer_count > 0 || w.count != 1) return nullptr;
  Peer* p = w.messages[0].from;
  return w.messages[0].number == p->counting.next_match ? p : nullptr;
}

}  // namespace

std::size_t medium_expected(State& s, std::span<ExpectedFrame> out) {
  Peer* p = medium_sender(s);
  // With a checksum the frame must be in one piece.
  if (!p || !p->rx.partial || p->agreed.checksum || s.suspended) return 0;
  const Partial& partial = *p->rx.partial;
  std::size_t n = 0;
  const std::uint32_t unit = partial.unit, fragments = (partial.msg_length + unit - 1) / unit;
  for (std::uint32_t i = 0; i < fragments && n < out.size(); i++) {
    if (partial.mask >> i & 1) continue;
    const std::uint32_t offset = i * unit, length = std::min(unit, partial.msg_length - offset);
    std::byte* place = partial_place(partial, offset, length);
    if (!place) break;
    out[n++] = {.place = place,
                .length = length,
                .header = partial.header,
                .index = i,
                .handle = 0,
                .sender = p,
                .message = partial.message()};
  }
  return n;
}

void bulk_came(State& s) {
  BulkAwaited& w = s.bulk.awaited;
  w.replies = false;
  const TimeNs before = w.progress;
  std::size_t left = 0;
  for (std::size_t i = 0; i < w.answer_count; i++) {
    const Pull* const pull = answer_due(s, w.answers[i]);
    if (!pull) continue;
    w.answers[left++] = w.answers[i];
    w.progress = std::max(w.progress, pull->last_reply);
  }
  w.answer_count = left;
  // On a slow cable a GSO batch takes half a millisecond. Data that others send by their bulk paths are no
  // sign of its progress.
  if (w.progress > before) w.until = s.now + kLook;
  if (s.now >= w.until) w = {};
}

}  // namespace omx::protocol
