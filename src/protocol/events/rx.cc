// SPDX-License-Identifier: BSD-3-Clause
#include "protocol/events/rx.h"

#include <cstring>

#include "base/mac.h"
#include "protocol/counters.h"
#include "protocol/events/ack.h"
#include "protocol/events/connect.h"
#include "protocol/events/nack.h"
#include "protocol/events/probe_received.h"
#include "protocol/events/pull_reply.h"
#include "protocol/events/pull_serve.h"
#include "protocol/events/rails_received.h"
#include "protocol/events/received.h"
#include "protocol/events/rx_message.h"
#include "protocol/state/peer.h"
#include "protocol/state/peers.h"
#include "protocol/state/rails.h"
#include "protocol/state/state.h"
#include "wire/packets.h"

namespace omx::protocol {

namespace {

// Returns whether the frame was sent to the board that it came by. An interface may carry several boards.
bool for_this_nic(const State& s, const wire::Head& head) {
  const NicId own = s.rails.rx_rail == 0 ? s.config.nic : s.config.rails.nics[s.rails.rx_rail];
  return head.dst == own || mac_is_group(head.dst);
}

void packet_received(State& s, wire::Head& head, wire::Frame frame);

// Takes a packet from a frame with several. Its addresses are those of the frame, and its source endpoint
// must be.
void shared_received(State& s, wire::Frame frame, wire::Frame packet) {
  std::byte whole[wire::kEthernetHeader + wire::kSharedPacketMax];
  std::memcpy(whole, frame.data(), wire::kEthernetHeader);
  std::memcpy(whole + wire::kEthernetHeader, packet.data(), packet.size());
  const wire::Frame inner(whole, wire::kEthernetHeader + packet.size());
  wire::Head head;
  if (wire::decode_head(inner, head) != wire::Drop::none) return rx_drop(s, wire::Drop::bad_length);
  switch (head.type) {
    case wire::PacketType::rndv:
    case wire::PacketType::pull:
    case wire::PacketType::notify:
    case wire::PacketType::truc:
      if (load_src_endpoint(inner) == load_src_endpoint(frame)) return packet_received(s, head, inner);
      s.count(Counter::drop_bad_source)++;
      return;
    default:
      return rx_drop(s, wire::Drop::bad_type);
  }
}

void packets_received(State& s, wire::Frame frame, wire::Frame records) {
  s.count(Counter::recv_coalesced_packets)++;
  for (std::uint32_t i = 0; !records.empty(); i++) {
    if (i == wire::kSharedPacketsMost) return rx_drop(s, wire::Drop::bad_length);
    wire::PackRecord record;
    const std::byte* data = nullptr;
    if (const auto drop = wire::decode_pack_record(records, record, &data); drop != wire::Drop::none)
      return rx_drop(s, drop);
    if (!record.packet) return rx_drop(s, wire::Drop::bad_type);
    shared_received(s, frame, {data, record.length});
  }
}

void pack_received(State& s, const wire::Head& head, wire::Frame frame) {
  Peer* p = peer_find(s, head.src, load_src_endpoint(frame));
  if (!rx_checksum_ok(s, p, frame)) return;
  // The peer was never told that we read PACKs. A peer that we gave up was told, and learns its state from
  // the answers.
  if (p && !p->agreed.extended && p->connected()) return rx_drop(s, wire::Drop::bad_type);
  wire::Pack packet;
  wire::Frame records;
  if (const auto drop = wire::decode_pack(frame, packet, records); drop != wire::Drop::none)
    return rx_drop(s, drop);
  if (wire::holds_packets(records)) return packets_received(s, frame, records);
  rx_messages(s, p, head, frame, packet, records);
}

// Returns whether the packet is for this endpoint. Counts a packet that is not.
bool for_this_endpoint(State& s, const wire::Head& head, wire::Frame frame) {
  if (!for_this_nic(s, head)) {
    s.count(Counter::drop_wrong_nic)++;
    return false;
  }
  const int endpoint = wire::destination_endpoint(frame);
  if (endpoint < 0) {
    rx_drop(s, wire::Drop::bad_type);
    return false;
  }
  if (endpoint != s.config.endpoint) s.count(Counter::drop_bad_endpoint)++;
  return endpoint == s.config.endpoint;
}

void packet_received(State& s, wire::Head& head, wire::Frame frame) {
  if (frame.size() < 32) return rx_drop(s, wire::Drop::frame_too_short);
  if (head.type == wire::PacketType::raw || head.type == wire::PacketType::host_query ||
      head.type == wire::PacketType::host_reply)
    return;  // these packets concern the board, not an endpoint
  if (!for_this_endpoint(s, head, frame)) return;
  if (rails_used(s)) [[unlikely]]
    rails_source(s, head, frame);
  switch (head.type) {
    case wire::PacketType::tiny:
    case wire::PacketType::small:
    case wire::PacketType::medium:
    case wire::PacketType::rndv:
    case wire::PacketType::notify:
      rx_message(s, head, frame);
      break;
    case wire::PacketType::pack:
      pack_received(s, head, frame);
      break;
    case wire::PacketType::truc:
      ack_received(s, head, frame);
      break;
    case wire::PacketType::pull:
      pull_serve(s, head, frame);
      break;
    case wire::PacketType::pull_reply:
      pull_reply_received(s, head, frame);
      break;
    case wire::PacketType::connect:
      connect_received(s, head, frame);
      break;
    case wire::PacketType::nack_lib:
      nack_lib_received(s, head, frame);
      break;
    case wire::PacketType::nack_mcp:
      pull_nacked(s, head, frame);
      break;
    case wire::PacketType::probe:
      probe_received(s, head, frame);
      break;
    default:
      rx_drop(s, wire::Drop::bad_type);
  }
}

}  // namespace

void rx_frame(State& s, wire::Frame frame) {
  wire::Head head;
  if (const auto drop = wire::decode_head(frame, head); drop != wire::Drop::none) return rx_drop(s, drop);
  packet_received(s, head, frame);
}

}  // namespace omx::protocol
