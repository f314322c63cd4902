// SPDX-License-Identifier: BSD-3-Clause
#include "protocol/actions/message_fields.h"

#include "protocol/actions/frames.h"
#include "protocol/state/peer.h"
#include "protocol/state/request.h"
#include "protocol/state/state.h"

namespace omx::protocol {

void header_fill(const State& s, const Peer& p, Seqnum seqnum, bool urgent, wire::Message& packet) {
  packet.dst_endpoint = p.endpoint;
  packet.src_endpoint = s.config.endpoint;
  packet.flags = frame_flags(p, urgent);
  packet.seqnum = seqnum;
  packet.piggyack = p.counting.next_match;
  packet.session = p.session.true_session;
}

void message_fill(State& s, const Request& r, bool urgent, wire::Message& packet) {
  const Peer& p = *r.peer;
  header_fill(s, p, r.seqnum, urgent, packet);
  packet.match_info = r.match_info;
  if (r.tx.asks_ack && urgent) [[unlikely]]
    packet.flags |= wire::kFlagAskAck;
  if (r.needs_ext() && p.carries_ext()) {
    packet.flags |= wire::kFlagHeaderExt;
    packet.ext = ext_of(r);
  }
}

wire::HeaderExt ext_of(const Request& r) {
  return {r.message_class, static_cast<std::uint8_t>(r.has_data), r.data};
}

void payload_copy(const Request& r, std::byte* out) {
  if (r.tx.buffer)
    __builtin_memcpy(out, r.tx.buffer, r.msg_length);
  else
    r.segments.read(0, out, r.msg_length);
}

}  // namespace omx::protocol
