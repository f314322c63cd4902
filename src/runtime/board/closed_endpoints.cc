// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/board/closed_endpoints.h"

#include <algorithm>

#include "runtime/board/claim.h"

namespace omx::runtime {

namespace {

constexpr std::size_t kProbesPerCheck = 16;  // of other endpoints: some system calls each

}  // namespace

bool ClosedEndpoints::open(std::uint32_t endpoint) const {
  return endpoint < endpoints_max_ && claim_held(board_.interface.index, endpoint);
}

void ClosedEndpoints::tell_link() {
  link_.hear_closed(others_);
}

void ClosedEndpoints::listen() {
  if (listens_) return;
  listens_ = true;
  for (std::uint32_t e = 0; e < endpoints_max_; e++) {
    if (e != own_ && open(e)) others_.push_back(static_cast<std::uint8_t>(e));
  }
  tell_link();
}

void ClosedEndpoints::check() {
  if (!listens_) return;
  const std::size_t before = others_.size();
  for (std::size_t probes = 0; probes < kProbesPerCheck && !others_.empty(); probes++) {
    next_ %= others_.size();
    if (open(others_[next_]))
      next_++;
    else
      others_.erase(others_.begin() + static_cast<std::ptrdiff_t>(next_));
  }
  if (others_.size() != before) tell_link();
}

bool ClosedEndpoints::on_frame(wire::Frame frame, std::uint16_t peer_index) {
  wire::Head head;
  if (!listens_ || wire::decode_head(frame, head) != wire::Drop::none || head.dst != board_.interface.nic)
    return false;
  const int endpoint = wire::destination_endpoint(frame);
  if (endpoint < 0 || endpoint == own_) return false;
  const auto number = static_cast<std::uint8_t>(endpoint);
  if (number >= endpoints_max_) return refuse(head.src, peer_index, frame, wire::NackCode::bad_endpoint);
  if (!open(number)) return refuse(head.src, peer_index, frame, wire::NackCode::endpoint_closed);
  // The holder of that endpoint receives this frame as well, and we receive no more such frames.
  if (std::find(others_.begin(), others_.end(), number) == others_.end()) {
    others_.push_back(number);
    tell_link();
  }
  return false;
}

bool ClosedEndpoints::refuse(NicId to, std::uint16_t peer_index, wire::Frame frame, wire::NackCode code) {
  // A refusal with a checksum needs an agreement, which is lost with the endpoint. A peer that wants one
  // gets no refusal.
  wire::TxFrame* out = nullptr;
  wire::Pull pull;
  if (wire::decode_pull(frame, mode_, false, pull) == wire::Drop::none) {
    wire::NackMcp nack;
    nack.src_endpoint = pull.src_endpoint;
    nack.refusing_endpoint = pull.dst_endpoint;
    nack.code = code;
    nack.pull_handle = pull.pull_handle;
    nack.magic = pull.magic;
    out = &link_.frame_begin(0);
    const wire::Head head{to, board_.interface.nic, peer_index, wire::PacketType::nack_mcp};
    out->header_length = static_cast<std::uint32_t>(wire::encode_nack_mcp(out->header, head, nack));
  } else if (const auto number = wire::message_number(frame)) {
    wire::NackLib nack;
    nack.src_endpoint = static_cast<std::uint8_t>(wire::destination_endpoint(frame));
    nack.dst_endpoint = static_cast<std::uint8_t>(frame[18]);
    nack.code = code;
    nack.seqnum = *number;
    nack.peer_index = peer_index;
    out = &link_.frame_begin(0);
    const wire::Head head{to, board_.interface.nic, peer_index, wire::PacketType::nack_lib};
    out->header_length = static_cast<std::uint32_t>(wire::encode_nack_lib(out->header, head, nack));
  }
  if (!out) return false;
  out->segment_count = 0;
  link_.frame_commit();
  return true;
}

}  // namespace omx::runtime
