// SPDX-License-Identifier: BSD-3-Clause
// Answers what is asked of the board, not of an endpoint: its name, and connection requests to endpoint ids
// that nobody has open. The frames reach every endpoint of the board; the one that holds the responder's
// claim answers.
#pragma once

#include <cstdint>

#include "runtime/boards.h"
#include "runtime/claim.h"
#include "runtime/peers.h"
#include "wire/codec.h"
#include "wire/frame_io.h"

namespace omx::runtime {

class BoardResponder {
 public:
  // All must outlive the responder. Answers go to the sink; the caller flushes.
  BoardResponder(const Board& board, std::uint32_t endpoints_max, PeerTable& peers, wire::FrameSink& sink)
      : board_(board), endpoints_max_(endpoints_max), peers_(peers), sink_(sink) {}

  // False when the frame is none of the responder's business.
  bool on_frame(wire::Frame frame);

  // From now on whoever asks for our name is asked for his.
  void ask_back() { asks_back_ = true; }
  // Asks a NIC, or with kBroadcastNic all, for its name; answers fill the table.
  void query(NicId nic);
  // Makes the discovery daemons of reference hosts announce their NICs. Each call needs another serial.
  void announce(std::uint32_t serial);

 private:
  bool responsible();
  void on_query(wire::Frame frame, const wire::Head& head);
  void reply(const wire::Head& to, const wire::HostQuery& query);
  void on_reply(wire::Frame frame, const wire::Head& head);
  void on_discovery(wire::Frame frame);
  void on_connect(wire::Frame frame, const wire::Head& head);

  const Board& board_;
  std::uint32_t endpoints_max_;
  PeerTable& peers_;
  wire::FrameSink& sink_;
  Claim claim_;
  bool asks_back_ = false;
};

}  // namespace omx::runtime
