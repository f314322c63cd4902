// SPDX-License-Identifier: BSD-3-Clause
// Names an endpoint's peers for messages.
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
  // Asks hosts for names that are not known yet, about once a second. Messages can then name a host that
  // falls silent.
  void ask();

 private:
  EndpointCore& core_;
  BoardAnswers& answers_;
  const PeerTable* table_ = nullptr;
  std::uint32_t asked_ = 0;  // peers asked so far in this round
  unsigned rounds_ = 0;
};

}  // namespace omx::runtime
