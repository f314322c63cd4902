// SPDX-License-Identifier: BSD-3-Clause
// Refusals: a packet for a session that is gone, a pull from a region that is not
// (docs/spec/wire.md 4.9-4.11).
#include "protocol/state.h"
#include "protocol/watch.h"

namespace omx::protocol {

Status nack_status(wire::NackCode code) {
  switch (code) {
    case wire::NackCode::bad_endpoint:
      return Status::bad_endpoint;
    case wire::NackCode::endpoint_closed:
      return Status::endpoint_closed;
    case wire::NackCode::bad_session:
      return Status::bad_session;
    case wire::NackCode::bad_rdma_window:
      return Status::bad_rdma_window;
    case wire::NackCode::none:
      break;
  }
  return Status::pending;  // unknown code: ignore
}

namespace {

// A refusal carries a checksum when the refused packet did. Where this endpoint insists on checksums, a
// packet without a valid one may be a damaged one of a good partner: it is not refused but dropped.
bool may_nack(State& s, const Partner* p, wire::Frame frame, bool& checksum) {
  const auto flags = static_cast<std::uint8_t>(frame[19]);
  checksum = (flags & wire::kFlagChecksum) && wire::checksum_verify(frame, p ? p->mode : s.config.mode);
  return checksum || !s.config.checksum;
}

wire::Head answer_head(const State& s, const wire::Head& head, wire::PacketType type) {
  if (rails_used(s)) [[unlikely]]
    return {s.rx_nic, s.config.rails.nics[s.rx_rail], wire::kUnknownPeerIndex, type};
  return {head.src, s.config.nic, wire::kUnknownPeerIndex, type};
}

// It goes where the question came from.
wire::TxFrame& answer_begin(State& s) {
  return s.rx_rail ? s.sink.rail_begin(s.rx_rail, 1) : s.sink.frame_begin(1);
}

}  // namespace

void nack_lib_send(State& s, const wire::Head& head, wire::Frame frame, std::uint8_t to_endpoint,
                   Seqnum seqnum, wire::NackCode code) {
  bool checksum = false;
  const Partner* p = partner_find(s, head.src, to_endpoint);
  if (!may_nack(s, p, frame, checksum)) {
    s.count(Counter::drop_bad_checksum)++;
    return;
  }
  wire::NackLib packet;
  packet.src_endpoint = s.config.endpoint;
  packet.dst_endpoint = to_endpoint;
  packet.flags = checksum ? wire::kFlagChecksum : 0;
  packet.code = code;
  wire::Head to = answer_head(s, head, wire::PacketType::nack_lib);
  if (p) to.peer_index = p->peer_index;
  packet.peer_index = to.peer_index;
  packet.seqnum = seqnum;
  wire::TxFrame& out = answer_begin(s);
  out.header_length = static_cast<std::uint32_t>(wire::encode_nack_lib(out.header, to, packet));
  out.segment_count = 0;
  frame_finish(s, out, checksum);
  s.count(Counter::send_nack_lib)++;
}

void nack_mcp_send(State& s, const wire::Head& head, wire::Frame frame, const wire::Pull& pull,
                   wire::NackCode code) {
  bool checksum = false;
  const Partner* p = partner_find(s, head.src, pull.src_endpoint);
  if (!may_nack(s, p, frame, checksum)) {
    s.count(Counter::drop_bad_checksum)++;
    return;
  }
  wire::NackMcp packet;
  packet.src_endpoint = pull.src_endpoint;
  packet.flags = checksum ? wire::kFlagChecksum : 0;
  packet.code = code;
  packet.pull_handle = pull.pull_handle;
  packet.magic = pull.magic;
  wire::Head to = answer_head(s, head, wire::PacketType::nack_mcp);
  if (p) to.peer_index = p->peer_index;
  wire::TxFrame& out = answer_begin(s);
  out.header_length = static_cast<std::uint32_t>(wire::encode_nack_mcp(out.header, to, packet));
  out.segment_count = 0;
  frame_finish(s, out, checksum);
  s.count(Counter::send_nack_mcp)++;
}

void nack_lib_received(State& s, const wire::Head& head, wire::Frame frame) {
  Partner* p = partner_find(s, head.src, static_cast<std::uint8_t>(frame[17]));
  if (!p || p->self) {
    s.count(Counter::drop_unknown_partner)++;
    return;
  }
  wire::NackLib packet;
  if (const auto drop = wire::decode_nack_lib(frame, p->extended, packet); drop != wire::Drop::none)
    return rx_drop(s, drop);
  // A nack for a connect comes from a board that knows nothing of the agreement with the old instance.
  const bool for_connect = seq_number(packet.seqnum) == 0 && (!p->connects.empty() || p->ping_pending);
  if (!for_connect && !rx_checksum_ok(s, p, frame)) return;
  const Status status = nack_status(packet.code);
  if (status == Status::pending) return;
  s.count(Counter::recv_nack_lib)++;

  if (seq_same_session(packet.seqnum, p->next_send)) {
    for (Request* r = p->unacked.front(); r; r = p->unacked.next(*r)) {
      if (r->seqnum != packet.seqnum) continue;
      // Numbers are refused only by an instance that is not the one we are connected to: everything towards
      // it will be refused, and a hole in the numbers could not be filled (docs/spec/protocol.md 5.5 [TRAP]).
      partner_cleanup(s, *p, Cleanup::refused, status);
      return;
    }
  }
  if (!for_connect) return;
  if (Request* r = p->connects.front())
    connect_fail(s, *p, *r, status);
  else
    partner_cleanup(s, *p, Cleanup::refused, status);  // the answer to a ping: it lives no more
}

}  // namespace omx::protocol
