// SPDX-License-Identifier: BSD-3-Clause
// Watches the interfaces of an endpoint. Reports what happens to them, and follows an interface that is
// removed and comes back.
#pragma once

#include <string>

#include "runtime/endpoint/board_answers.h"
#include "runtime/endpoint/endpoint_core.h"
#include "runtime/endpoint/intra_node.h"
#include "runtime/endpoint/progression.h"
#include "runtime/endpoint/rails.h"
#include "runtime/wait/waiters.h"

namespace omx::runtime {

//             down, no carrier, gone                 returned, and followed
//   up ------------------------------> outage ------------------------------> up
//                                      |    ^
//                                      +----+ returned, but an obstacle is left: tried again each second
class OutageWatch {
 public:
  OutageWatch(EndpointCore& core, const Progression& progression, BoardAnswers& answers,
              IntraNode& intra_node, Rails& rails, Waiters& waiters)
      : core_(core),
        progression_(progression),
        answers_(answers),
        intra_node_(intra_node),
        rails_(rails),
        waiters_(waiters) {}

  // Check the endpoint's own board and its other boards. Call them about once a second, and when a descriptor
  // reported an error. check() returns false when copies still read the receive ring: try again soon.
  bool check();
  void check_rails();

 private:
  bool refresh();
  std::string board_follow(link::Transport& its_link, Board& board, Claim& claim);
  std::string own_board_follow();
  bool hub_listen();
  std::string outage_message(const link::Transport& its_link, bool up, const Board& board,
                             const std::string& obstacle) const;

  EndpointCore& core_;
  const Progression& progression_;
  BoardAnswers& answers_;
  IntraNode& intra_node_;
  Rails& rails_;
  Waiters& waiters_;
  Claim listened_;  // of a former index: the hub listens there until it can listen at the present claim
  bool up_ = true;
  link::Outage outage_ = link::Outage::none;  // the outage that was reported last
};

}  // namespace omx::runtime
