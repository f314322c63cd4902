// SPDX-License-Identifier: BSD-3-Clause
// Speaks for a board: tells its name, asks others for theirs, and refuses connections to endpoints that no
// process has open. Sealed sockets may do none of this, because it concerns all users of the board.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/expected.h"
#include "link/frame_handler.h"
#include "link/transport.h"
#include "runtime/board/board_responder.h"
#include "runtime/board/peer_table.h"

namespace omx::broker {

class BoardVoice final : private link::FrameHandler {
 public:
  struct Name {
    NicId nic = 0;
    std::string name;
    bool by_broker = false;  // a broker answered for the NIC
  };
  // `open` returns whether an endpoint of the board is open. `named` is told each name that the network
  // gives.
  struct Ears {
    std::function<bool(std::uint32_t endpoint)> open;
    std::function<void(const Name&)> named;
  };

  // Opens the voice in the network namespace of the calling thread.
  static Result<std::unique_ptr<BoardVoice>> open(const runtime::Board& board, Ears ears);

  // Asks for the name of a NIC, or of all NICs with kBroadcastNic.
  void ask(NicId nic);
  // Makes the discovery daemons of legacy hosts announce their NICs, which each does for some seconds. Does
  // nothing if that was asked for a moment ago.
  void announce(std::uint32_t serial, std::int64_t now_ns);
  // Handles what has arrived.
  void receive();
  int descriptor() const { return link_->descriptor(); }

 private:
  BoardVoice(const runtime::Board& board, Ears ears, std::unique_ptr<link::Transport> link);
  void on_frame(wire::Frame frame) override;

  const runtime::Board board_;
  const Ears ears_;
  std::unique_ptr<link::Transport> link_;
  runtime::PeerTable peers_;
  runtime::BoardResponder responder_;
  std::int64_t announce_at_ = 0;  // not before this time
};

}  // namespace omx::broker
