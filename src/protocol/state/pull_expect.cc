// SPDX-License-Identifier: BSD-3-Clause
#include "protocol/state/pull_expect.h"

#include <algorithm>

#include "base/mac.h"
#include "protocol/state/peer.h"
#include "protocol/state/pull.h"
#include "protocol/state/pull_slots.h"
#include "protocol/state/state.h"
#include "protocol/state/unscheduled.h"
#include "wire/packets.h"

namespace omx::protocol {

namespace {

// Returns whether a place was given already. A second frame that lands there would spoil the first.
bool given(std::span<const ExpectedFrame> places, std::uint32_t handle, std::uint32_t index) {
  return std::any_of(places.begin(), places.end(), [&](const ExpectedFrame& place) {
    return place.handle == handle && place.index == index;
  });
}

bool comes_from(const Peer& p, NicId nic) {
  return nic == p.nic || (p.rails && p.rails->peer.place(nic) != kRailsMost);
}

bool missing(Pull& pull, std::uint32_t index) {
  for (std::uint32_t i = 0; i < pull.block_count; i++) {
    const PullBlock& block = pull.block(i);
    if (index - block.first < block.frames) return block.missing >> (index - block.first) & 1;
  }
  return false;
}

}  // namespace

void pull_expect(State& s, const Pull& pull, std::uint32_t first, std::uint32_t frames, bool again,
                 std::uint8_t rail) {
  PullExpected& e = s.transfers.expected[rail];
  if (e.count == e.asked.size()) {
    e.front++;
    e.count--;
  }
  e.at(e.count++) = {pull.handle, first, frames, again};
}

void pull_expected_came(State& s, const Pull& pull, std::uint32_t index, std::uint8_t rail) {
  PullExpected& e = s.transfers.expected[rail];
  for (std::uint32_t i = 0; i < e.count; i++) {
    PullExpected::Asked& asked = e.at(i);
    if (asked.handle != pull.handle || index - asked.first >= asked.frames) continue;
    // Frames that were asked for before this one were answered before it, or are lost.
    const std::uint32_t done = index + 1 - asked.first;
    asked.first += done;
    asked.frames -= done;
    const std::uint32_t over = i + (asked.frames == 0);
    e.front += over;
    e.count -= over;
    return;
  }
}

std::size_t pulls_expected(State& s, std::span<ExpectedFrame> out, unsigned rail) {
  // Frames of several senders come in any order.
  if (s.pulling.senders != 1) return 0;
  std::size_t n = 0;
  PullExpected& e = s.transfers.expected[rail];
  for (std::uint32_t i = 0; i < e.count; i++) {
    const PullExpected::Asked& asked = e.at(i);
    Pull* pull = pull_of_handle(s, asked.handle);
    // With a checksum the frame must be in one piece.
    if (!pull || pull->peer->agreed.checksum || pull->peer->agreed.intra_node_frame) continue;
    for (std::uint32_t index = asked.first; index < asked.first + asked.frames; index++) {
      if (n == out.size()) return n;
      if (!missing(*pull, index)) continue;
      if (asked.again && given(out.first(n), asked.handle, index)) continue;
      const std::uint64_t start = pull_frame_start(*pull, index);
      const auto length = static_cast<std::uint32_t>(pull_frame_end(*pull, index) - start);
      std::byte* place = pull->request->segments.piece(start, length);
      if (!place) return n;
      out[n++] = {.place = place,
                  .length = length,
                  .header = wire::kBulkHeader,
                  .index = index,
                  .handle = asked.handle,
                  .sender = nullptr,
                  .message = nullptr};
    }
  }
  return n;
}

bool pull_reply_is(State& s, const ExpectedFrame& expected, wire::Frame frame) {
  wire::Head head;
  wire::PullReply packet;
  const std::byte* data = nullptr;
  Pull* pull = pull_of_handle(s, expected.handle);
  return pull && wire::decode_head(frame, head) == wire::Drop::none && comes_from(*pull->peer, head.src) &&
         wire::decode_pull_reply(frame, pull->peer->agreed.extended, packet, &data) == wire::Drop::none &&
         !pull->peer->misnamed(packet.src_endpoint) &&
         (unscheduled_is(s, *pull, packet.magic, packet.pull_handle) ||
          (packet.magic == (wire::kPullMagic ^ s.config.endpoint) &&
           packet.pull_handle == expected.handle)) &&
         packet.frame_seqnum == static_cast<std::uint8_t>(expected.index) &&
         packet.msg_offset == pull_frame_start(*pull, expected.index) &&
         packet.frame_length == expected.length;
}

}  // namespace omx::protocol
