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
#include "protocol/state/rails.h"
#include "protocol/state/state.h"
#include "wire/packets.h"

namespace omx::protocol {

namespace {

// Whether it was sent to the board by which it came. Other ones may stand on the same interface.
bool for_this_nic(const State& s, const wire::Head& head) {
  const NicId own = s.rails.rx_rail == 0 ? s.config.nic : s.config.rails.nics[s.rails.rx_rail];
  return head.dst == own || mac_is_group(head.dst);
}

}  // namespace

void rx_frame(State& s, wire::Frame frame) {
  wire::Head head;
  if (const auto drop = wire::decode_head(frame, head); drop != wire::Drop::none) return rx_drop(s, drop);
  if (frame.size() < 32) return rx_drop(s, wire::Drop::frame_too_short);
  if (head.type == wire::PacketType::raw || head.type == wire::PacketType::host_query ||
      head.type == wire::PacketType::host_reply)
    return;  // the board's business, not an endpoint's
  if (!for_this_nic(s, head)) {
    s.count(Counter::drop_wrong_nic)++;
    return;
  }
  const int endpoint = wire::destination_endpoint(frame);
  if (endpoint < 0) return rx_drop(s, wire::Drop::bad_type);
  if (endpoint != s.config.endpoint) {
    s.count(Counter::drop_bad_endpoint)++;
    return;
  }
  if (rails_used(s)) [[unlikely]]
    rails_source(s, head, frame);
  switch (head.type) {
    case wire::PacketType::tiny:
    case wire::PacketType::small:
    case wire::PacketType::medium:
    case wire::PacketType::rndv:
    case wire::PacketType::notify:
      rx_message(s, head, frame, false);
      break;
    case wire::PacketType::pack:
      rx_pack(s, head, frame);
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

void share_receive(State& s, wire::Frame frame, wire::Frame packet) {
  // Its addresses are the frame's.
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
      return rx_frame(s, inner);
    default:
      return rx_drop(s, wire::Drop::bad_type);
  }
}

}  // namespace omx::protocol
