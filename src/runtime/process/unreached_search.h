// SPDX-License-Identifier: BSD-3-Clause
// Finds out what this host can about a peer that was not reached.
#pragma once

#include <cstdint>
#include <string>

#include "config/settings.h"
#include "runtime/board/unreached.h"
#include "runtime/process/open_endpoints.h"
#include "runtime/process/process_boards.h"

namespace omx::runtime {

// Facts of the attempt that the caller knows.
struct Unanswered {
  bool refused = false;  // the host said that the endpoint is closed; else no answer came
  std::string advice;    // text of Endpoint::silence_advice()
  bool ask = false;      // the network may be asked
};

class UnreachedSearch {
 public:
  UnreachedSearch(const Settings& settings, const ProcessBoards& boards, OpenEndpoints& endpoints)
      : settings_(settings), boards_(boards), endpoints_(endpoints) {}

  // Finds the reason. If it asks the network, that takes a third of a second at most. No endpoint may be
  // locked then.
  Unreached find(NicId nic, std::uint8_t endpoint, const Unanswered& how) const;

 private:
  bool answers_by_frames(NicId mac) const;
  void ask(NicId nic, UnreachedFacts& facts) const;

  const Settings& settings_;
  const ProcessBoards& boards_;
  OpenEndpoints& endpoints_;
};

}  // namespace omx::runtime
