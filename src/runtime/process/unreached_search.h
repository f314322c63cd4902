// SPDX-License-Identifier: BSD-3-Clause
// What this host can find out about a peer that was not reached.
#pragma once

#include <cstdint>
#include <string>

#include "config/settings.h"
#include "runtime/board/unreached.h"
#include "runtime/process/open_endpoints.h"
#include "runtime/process/process_boards.h"

namespace omx::runtime {

// What is known of the attempt.
struct Unanswered {
  bool refused = false;  // the host said that it is closed; else nothing came
  std::string advice;    // Endpoint::silence_advice
  bool ask = false;      // the network may be asked
};

class UnreachedSearch {
 public:
  UnreachedSearch(const Settings& settings, const ProcessBoards& boards, OpenEndpoints& endpoints)
      : settings_(settings), boards_(boards), endpoints_(endpoints) {}

  // Where the network is asked, that takes a third of a second at most: no endpoint may be locked.
  Unreached find(NicId nic, std::uint8_t endpoint, const Unanswered& how) const;

 private:
  bool answers_by_frames(NicId mac) const;
  void ask(NicId nic, UnreachedFacts& facts) const;

  const Settings& settings_;
  const ProcessBoards& boards_;
  OpenEndpoints& endpoints_;
};

}  // namespace omx::runtime
