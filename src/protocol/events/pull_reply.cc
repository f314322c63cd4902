// SPDX-License-Identifier: BSD-3-Clause
#include "protocol/events/pull_reply.h"

#include <utility>

#include "base/bytes.h"
#include "protocol/actions/connect_tx.h"
#include "protocol/actions/nack_tx.h"
#include "protocol/actions/pull_run.h"
#include "protocol/actions/pull_schedule.h"
#include "protocol/actions/pull_share.h"
#include "protocol/actions/rails_tend.h"
#include "protocol/counters.h"
#include "protocol/events/cleanup.h"
#include "protocol/events/received.h"
#include "protocol/state/gso_frame.h"
#include "protocol/state/news.h"
#include "protocol/state/peer.h"
#include "protocol/state/peers.h"
#include "protocol/state/pull.h"
#include "protocol/state/pull_copy.h"
#include "protocol/state/pull_expect.h"
#include "protocol/state/pull_slots.h"
#include "protocol/state/pull_window.h"
#include "protocol/state/rails.h"
#include "protocol/state/state.h"
#include "protocol/state/unscheduled.h"
#include "protocol/types.h"

namespace omx::protocol {

namespace {

Pull* pull_of_reply(State& s, const wire::Head& head, wire::Frame frame) {
  const auto source = static_cast<std::uint8_t>(frame[14]);
  Pull* const pull = pull_of(s, head, frame, source);
  return pull ? pull
              : unscheduled_find(s, head.src, load_be32(frame.data() + 28), load_be32(frame.data() + 24),
                                 source);
}

// Counts a PULL_REPLY or NACK_MCP that was taken for no pull.
void drop_count(State& s, const wire::Head& head, wire::Frame frame) {
  const std::uint32_t magic = load_be32(frame.data() + 28);
  const Peer* p = nullptr;
  if (wire::unscheduled(magic))
    p = peer_find(s, head.src, wire::unscheduled_from(magic));
  else if (const Pull* const pull = pull_of_handle(s, load_be32(frame.data() + 24)))
    p = pull->peer;
  const bool another =
      p && p->nic == head.src && p->misnamed(static_cast<std::uint8_t>(wire::source_endpoint(frame)));
  s.count(another ? Counter::drop_bad_source : Counter::drop_pull_reply_bad_handle)++;
}

// A reply that a pull waits for.
struct Reply {
  wire::PullReply packet;
  const std::byte* data = nullptr;
  Pull* pull = nullptr;
  std::uint32_t position = 0;  // of its block
  std::uint32_t index = 0;
  // Returns whether all other frames of the pull are here.
  bool last() const {
    return pull->block_count == 1 && pull->next_frame == pull->frames &&
           (pull->block(0).missing & (pull->block(0).missing - 1)) == 0;
  }
};

// Returns which frame a reply is, whose number has 8 bits.
std::uint32_t reply_index(Pull& pull, const wire::PullReply& packet) {
  const std::uint32_t first = pull.block(0).first;
  return first + static_cast<std::uint8_t>(packet.frame_seqnum - first);
}

// Returns whether the pull has asked for this frame, and the frame begins where the reply does.
bool reply_fits(const Pull& pull, std::uint32_t index, const wire::PullReply& packet) {
  return pull.block_count > 0 && index < pull.next_frame &&
         packet.msg_offset == pull_frame_start(pull, index);
}

std::uint64_t frame_bytes(const Pull& pull, std::uint32_t index) {
  return pull_frame_end(pull, index) - pull_frame_start(pull, index);
}

// Returns whether the sender answered a request for GSO frames by the first bytes alone.
bool gso_refused(Pull& pull, const wire::PullReply& packet) {
  const std::uint32_t index = reply_index(pull, packet);
  return reply_fits(pull, index, packet) && packet.frame_length < frame_bytes(pull, index);
}

bool reply_wanted(State& s, const wire::Head& head, wire::Frame frame, Reply& reply) {
  // The pull tells whether the sender is extended, and whether the frame names the sender's endpoint.
  Pull* pull = reply.pull = pull_of_reply(s, head, frame);
  if (!pull) {
    drop_count(s, head, frame);
    return false;
  }
  Peer& p = *pull->peer;
  wire::PullReply& packet = reply.packet;
  const auto drop = wire::decode_pull_reply(frame, p.agreed.extended, packet, &reply.data);
  // A cut frame has no checksum.
  const bool cut = drop == wire::Drop::truncated;
  if (!(pull->gso && cut) && !rx_checksum_ok(s, &p, frame)) return false;
  if (pull->gso && (cut || (drop == wire::Drop::none && gso_refused(*pull, packet)))) {
    gso_failed(s, p);
    pull_restart(s, *pull);
    return false;
  }
  if (drop != wire::Drop::none) {
    rx_drop(s, drop);
    return false;
  }
  s.count(Counter::recv_pull_reply)++;
  const std::uint32_t index = reply.index = reply_index(*pull, packet);
  if (!reply_fits(*pull, index, packet) || packet.frame_length != frame_bytes(*pull, index)) {
    // Late repetitions of frames before the window also end here.
    s.count(Counter::drop_pull_reply_bad_frame)++;
    return false;
  }
  while (index >= pull->block(reply.position).first + pull->block(reply.position).frames) reply.position++;
  const PullBlock& block = pull->block(reply.position);
  if (block.missing >> (index - block.first) & 1) return true;
  s.count(Counter::drop_pull_reply_duplicate)++;
  return false;
}

// Notes that the data of a reply are in their place.
void reply_take(State& s, const Reply& reply) {
  Pull* const pull = reply.pull;
  PullBlock& block = pull->block(reply.position);
  block.missing &= ~(std::uint64_t{1} << (reply.index - block.first));
  pull_expected_came(s, *pull, reply.index, s.rails.rx_rail);
  if (pull->share) {
    peer_heard(s, *pull->peer);
    return share_advance(s, *pull);
  }
  if (pull->silent_rounds > 0) trip_ask(s, *pull->peer);
  pull_arrived(s, *pull, block, reply.packet.frame_length);
  if (s.marked) [[unlikely]]
    pull_marked(s, *pull, block);
  pull->last_reply = pull->quiet_since = s.now;
  pull->silent_rounds = 0;
  peer_heard(s, *pull->peer);
  if (block.missing) {
    // No later block would show what the last block misses, but its own last frame does. In a striped message
    // that may be any block of a rail.
    const bool last =
        pull->peer->rails ? reply.index + 1 == block.first + block.frames : reply.index + 1 == pull->frames;
    const bool end =
        last && pull->peer->agreed.extended && (!pull->peer->rails || block.rail == s.rails.rx_rail);
    if (end && !std::exchange(block.end_missed, true)) pull_passed(s, *pull, block);
    return pulls_ask(s);
  }

  if (reply.position > 0) {
    // A later block is whole and an earlier one is not: frames were lost.
    for (std::uint32_t i = 0; i < reply.position; i++) {
      PullBlock& earlier = pull->block(i);
      if (earlier.missing && earlier.rail != block.rail) {
        // Answers by different boards arrive in no particular order.
        if (rail_is_late(s, *pull, earlier)) rails_late(s, *pull, earlier);
        continue;
      }
      // A sender answers requests in the order of their arrival.
      if (earlier.missing && earlier.asked_last <= block.asked_last) pull_passed(s, *pull, earlier);
    }
    return pulls_ask(s);
  }
  pull_blocks_pop(*pull);
  if (pull->block_count == 0 && pull->next_frame == pull->frames)
    return pull_finish(s, *pull, Status::success);
  pull_want(s, *pull);
  pulls_ask(s);
}

}  // namespace

void pull_reply_received(State& s, const wire::Head& head, wire::Frame frame) {
  Reply reply;
  if (!reply_wanted(s, head, frame, reply)) return;
  pull_copy(s, *reply.pull, reply.packet.msg_offset, reply.data, reply.packet.frame_length, reply.last());
  reply_take(s, reply);
}

void pull_reply_placed(State& s, const wire::Head& head, wire::Frame frame) {
  Reply reply;
  if (reply_wanted(s, head, frame, reply)) reply_take(s, reply);
}

void pull_nacked(State& s, const wire::Head& head, wire::Frame frame) {
  Pull* pull = pull_of(s, head, frame, static_cast<std::uint8_t>(frame[20]));
  if (!pull) return drop_count(s, head, frame);
  if (!rx_checksum_ok(s, pull->peer, frame)) return;
  wire::NackMcp packet;
  if (const auto drop = wire::decode_nack_mcp(frame, pull->peer->agreed.extended, packet);
      drop != wire::Drop::none)
    return rx_drop(s, drop);
  const Status status = nack_status(packet.code);
  if (status == Status::pending) return;
  s.count(Counter::recv_nack_mcp)++;
  // Only another instance than the connected one refuses more than a region. What follows this message would
  // come from that one, and leave a hole.
  if (pull->peer->agreed.extended && status != Status::bad_rdma_window)
    return peer_cleanup(s, *pull->peer, Cleanup::refused, status);
  pull_finish(s, *pull, status);
}

void pulls_copied(State& s) {
  if (s.transfers.pull_copying.empty()) return;
  while (Pull* pull = s.transfers.pull_copying.front()) {
    if (pull_copies_run(s, *pull)) return;
    pull_finish(s, *pull, Status::success);
  }
}

}  // namespace omx::protocol
