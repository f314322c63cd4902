// SPDX-License-Identifier: BSD-3-Clause
#include "protocol/actions/nack_tx.h"

#include "protocol/actions/frames.h"
#include "protocol/counters.h"
#include "protocol/state/peer.h"
#include "protocol/state/peers.h"
#include "protocol/state/rails.h"
#include "protocol/state/state.h"
#include "wire/frame_io.h"

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

// Returns whether a packet may be refused. A refusal carries a checksum when the refused packet did. Where
// this endpoint insists on checksums, a packet without a valid one is dropped, because it may be a damaged
// packet of a good peer.
bool may_nack(State& s, const Peer* p, wire::Frame frame, bool& checksum) {
  const auto flags = static_cast<std::uint8_t>(frame[19]);
  checksum =
      (flags & wire::kFlagChecksum) && wire::checksum_verify(frame, p ? p->agreed.mode : s.config.mode);
  return checksum || !s.config.checksum;
}

wire::Head answer_head(const State& s, const wire::Head& head, wire::PacketType type) {
  if (rails_used(s)) [[unlikely]]
    return {s.rails.rx_nic, s.config.rails.nics[s.rails.rx_rail], wire::kUnknownPeerIndex, type};
  return {head.src, s.config.nic, wire::kUnknownPeerIndex, type};
}

// Begins an answer, which leaves by the board that the packet came by.
wire::TxFrame& answer_begin(State& s) {
  return s.rails.rx_rail ? s.sink.rail_begin(s.rails.rx_rail, 1) : s.sink.frame_begin(1);
}

}  // namespace

void nack_lib_send(State& s, const wire::Head& head, wire::Frame frame, std::uint8_t to_endpoint,
                   Seqnum seqnum, wire::NackCode code) {
  bool checksum = false;
  const Peer* p = peer_find(s, head.src, to_endpoint);
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
  if (p) to.peer_index = p->session.peer_index;
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
  const Peer* p = peer_find(s, head.src, pull.src_endpoint);
  if (!may_nack(s, p, frame, checksum)) {
    s.count(Counter::drop_bad_checksum)++;
    return;
  }
  wire::NackMcp packet;
  packet.src_endpoint = pull.src_endpoint;
  packet.refusing_endpoint = s.config.endpoint;
  packet.flags = checksum ? wire::kFlagChecksum : 0;
  packet.code = code;
  packet.pull_handle = pull.pull_handle;
  packet.magic = pull.magic;
  wire::Head to = answer_head(s, head, wire::PacketType::nack_mcp);
  if (p) to.peer_index = p->session.peer_index;
  wire::TxFrame& out = answer_begin(s);
  out.header_length = static_cast<std::uint32_t>(wire::encode_nack_mcp(out.header, to, packet));
  out.segment_count = 0;
  frame_finish(s, out, checksum);
  s.count(Counter::send_nack_mcp)++;
}

}  // namespace omx::protocol
