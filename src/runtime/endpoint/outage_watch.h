// SPDX-License-Identifier: BSD-3-Clause
// The interfaces of an endpoint: what happens to them is said, and one that is removed and comes back is
// followed.
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

  // Each about once a second, and when a descriptor reported an error. Returns false when copies read the
  // receive ring still: to be tried again soon.
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
  Claim listened_;  // of a former index: the hub listens there until it can listen to the present claim
  bool up_ = true;
  link::Outage outage_ = link::Outage::none;  // that was reported
};

}  // namespace omx::runtime
