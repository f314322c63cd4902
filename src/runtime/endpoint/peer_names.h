// SPDX-License-Identifier: BSD-3-Clause
// How an endpoint names its peers in messages for people.
#pragma once

#include <string>

#include "runtime/board/peer_table.h"
#include "runtime/endpoint/board_answers.h"
#include "runtime/endpoint/endpoint_core.h"

namespace omx::runtime {

class PeerNames {
 public:
  PeerNames(EndpointCore& core, BoardAnswers& answers) : core_(core), answers_(answers) {}

  void open(const PeerTable& table) { table_ = &table; }
  // Returns "host h2 (02:...), endpoint 3".
  std::string text(NicId nic, std::uint8_t endpoint) const;
  // About once a second: asks hosts whose name is not known yet, so that it can be said when they fall
  // silent.
  void ask();

 private:
  EndpointCore& core_;
  BoardAnswers& answers_;
  const PeerTable* table_ = nullptr;
  std::uint32_t asked_ = 0;  // partners so far, in this round
  unsigned rounds_ = 0;
};

}  // namespace omx::runtime
