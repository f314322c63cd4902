// SPDX-License-Identifier: BSD-3-Clause
#include "protocol/actions/ack_tx.h"

#include <utility>

#include "protocol/actions/coalesce_packets.h"
#include "protocol/actions/frames.h"
#include "protocol/counters.h"
#include "protocol/state/ack_owed.h"
#include "protocol/state/parked.h"
#include "protocol/state/peer.h"
#include "protocol/state/reorder_buffer.h"
#include "protocol/state/seqnum.h"
#include "protocol/state/state.h"
#include "wire/codec.h"
#include "wire/packets.h"

namespace omx::protocol {

void ack_needed(State& s, Peer& p) {
  if (p.agreed.extended
          ? ack_much_owed(s, p)
          : seq_diff(p.counting.next_match, p.counting.last_acked) >= s.config.reliability.notacked_max) {
    ack_immediately(s, p);
    return;
  }
  ack_later(s, p);
}

void ack_later(State& s, Peer& p) {
  if (p.counting.ack_pending) return;
  p.counting.ack_pending = true;
  p.rx.ack_due =
      s.now + (p.agreed.extended ? s.config.reliability.ack_delay_extended : s.config.reliability.ack_delay);
  s.timers.arm_by(p.ack_timer, p.rx.ack_due);
}

void ack_transmit(State& s, Peer& p) {
  p.ack_now.unlink();
  if (p.reply_session() == wire::kUnknownSession) return;
  wire::Truc packet;
  packet.dst_endpoint = p.endpoint;
  packet.src_endpoint = s.config.endpoint;
  const bool park = park_waits(p);
  if (park) park_told(s, p);
  packet.flags = frame_flags(p, park || p.counting.ack_asked || p.rx.reorder || ack_much_owed(s, p));
  if (park) packet.flags |= wire::kFlagPark;
  if (std::exchange(p.counting.marks_untold, false)) packet.flags |= wire::kFlagMarked;
  packet.session = p.reply_session();
  packet.seqnum = p.counting.next_match;
  packet.send_seq = p.counting.next_match;
  packet.acknum = ++p.counting.send_acknum;
  if (p.rx.reorder && (p.agreed.features & wire::kFeatureSack)) {
    packet.has_sack = true;
    for (std::uint32_t i = 0; i + 1 <= kReorderNumbers; i++) {
      if (p.rx.reorder->slots[seq_number(seq_add(p.counting.next_match, i + 1)) % 256].complete)
        packet.sack[i / 8] = static_cast<std::uint8_t>(packet.sack[i / 8] | (1U << (i % 8)));
    }
  }
  Draft draft;
  draft.length = wire::encode_truc(draft.header, frame_head(s, p, wire::PacketType::truc), packet);
  packet_send(s, p, draft);
  p.counting.last_acked = p.counting.next_match;
  p.rx.frames_owed = 0;
  p.counting.ack_pending = p.counting.ack_asked = false;
  s.count(Counter::send_lib_ack)++;
}

void ack_flush(State& s, bool delayed_too) {
  while (Peer* p = s.ack_now.pop_front()) ack_transmit(s, *p);
  if (!delayed_too) return;
  for (Peer* p : s.peers.by_index)
    if (p->counting.ack_pending) ack_transmit(s, *p);
}

}  // namespace omx::protocol
