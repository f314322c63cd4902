// SPDX-License-Identifier: BSD-3-Clause
// Answers for the endpoint's board: questions for names, and frames for endpoints that no process has open.
#pragma once

#include <cstddef>
#include <optional>

#include "runtime/board/board_responder.h"
#include "runtime/board/closed_endpoints.h"
#include "runtime/board/peer_table.h"
#include "runtime/endpoint/endpoint_core.h"

namespace omx::runtime {

// How many bytes wire::destination_endpoint() needs of a frame.
inline constexpr std::size_t kAddressedFrameLeast = 32;

class BoardAnswers {
 public:
  explicit BoardAnswers(EndpointCore& core) : core_(core) {}

  // Sets up the answers, once, when the link is open. The table must outlive this object. Does nothing for a
  // board whose broker answers.
  void open(PeerTable& peers);
  bool opened() const { return responder_.has_value(); }
  // Handles a frame that is for no endpoint of this process. Returns whether it was answered.
  bool on_frame(wire::Frame frame);
  // Checks the responder's role and closed endpoints. Call it about once a second.
  void check();
  // Says that the interface has another index now.
  void board_moved() {
    if (responder_) responder_->board_moved();
  }
  // Asks a host for its name. The caller flushes the link.
  void query(NicId nic) { responder_->query(nic); }

 private:
  bool refused(wire::Frame frame);

  EndpointCore& core_;
  std::optional<BoardResponder> responder_;
  std::optional<ClosedEndpoints> closed_;
};

}  // namespace omx::runtime
