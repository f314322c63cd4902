// SPDX-License-Identifier: BSD-3-Clause
// What an endpoint answers for its board: questions for names, and frames for endpoints that no process has.
#pragma once

#include <cstddef>
#include <optional>

#include "runtime/board/board_responder.h"
#include "runtime/board/closed_endpoints.h"
#include "runtime/board/peer_table.h"
#include "runtime/endpoint/endpoint_core.h"

namespace omx::runtime {

// What wire::destination_endpoint() needs of a frame.
inline constexpr std::size_t kAddressedFrameLeast = 32;

class BoardAnswers {
 public:
  explicit BoardAnswers(EndpointCore& core) : core_(core) {}

  // Once, when the link is open. The table must live as long as this.
  void open(PeerTable& peers);
  bool opened() const { return responder_.has_value(); }
  // A frame that is for no endpoint of this process. Returns whether it was answered.
  bool on_frame(wire::Frame frame);
  // About once a second.
  void check();
  // The interface has another index now.
  void board_moved() { responder_->board_moved(); }
  // Asks a host for its name. The caller flushes the link.
  void query(NicId nic) { responder_->query(nic); }

 private:
  bool refused(wire::Frame frame);

  EndpointCore& core_;
  std::optional<BoardResponder> responder_;
  std::optional<ClosedEndpoints> closed_;
};

}  // namespace omx::runtime
