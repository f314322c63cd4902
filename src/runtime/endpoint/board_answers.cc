// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/endpoint/board_answers.h"

#include <cassert>

#include "protocol/state/peer.h"
#include "wire/codec.h"

namespace omx::runtime {

void BoardAnswers::open(PeerTable& peers) {
  assert(core_.link);
  if (core_.board.granted()) return;
  const Settings& settings = core_.settings;
  responder_.emplace(core_.board, settings.endpoints_max, peers, *core_.link);
  // Extended peers soon learn that this endpoint is gone; legacy peers would send for minutes.
  if (settings.protocol.mode == wire::Mode::mxoe && !core_.board.udp)
    closed_.emplace(core_.board, core_.id, settings.endpoints_max, settings.protocol.mode, *core_.link);
  if (closed_ && responder_->responsible()) closed_->listen();
}

bool BoardAnswers::on_frame(wire::Frame frame) {
  if (!responder_) return false;
  if (!responder_->on_frame(frame) && !refused(frame)) return false;
  core_.link->flush();  // these answers do not pass through the engine's sink
  return true;
}

// Refuses a frame for an endpoint that no process has open. Returns whether the sender was told so.
bool BoardAnswers::refused(wire::Frame frame) {
  wire::Head head;
  if (!closed_ || frame.size() < kAddressedFrameLeast || wire::decode_head(frame, head) != wire::Drop::none)
    return false;
  const protocol::Peer* const from = core_.engine->find_peer(head.src, static_cast<std::uint8_t>(frame[18]));
  return closed_->on_frame(frame, from ? from->session.peer_index : wire::kUnknownPeerIndex);
}

void BoardAnswers::check() {
  if (!closed_ || !responder_->responsible()) return;
  closed_->listen();
  closed_->check();
}

}  // namespace omx::runtime
