// SPDX-License-Identifier: BSD-3-Clause
// Moves the thread that opens an endpoint to where its frames arrive, as OMX_PROCESS_BINDING says
// (docs/how-to/bind.md); steering/placement.h decides where that is.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/fork_guard.h"
#include "base/log.h"
#include "config/settings.h"
#include "runtime/board/boards.h"
#include "runtime/board/claim.h"

namespace omx::runtime {

// Where a thread was put. Its endpoints hold it; when they are closed the processor counts as free again.
class Seat {
 public:
  Seat(std::vector<int> processors, Claim claim)
      : processors_(std::move(processors)), claim_(std::move(claim)) {}
  const std::vector<int>& processors() const { return processors_; }
  bool forked() const { return mark_.forked(); }

 private:
  std::vector<int> processors_;
  Claim claim_;
  ForkMark mark_;
};

// The calling thread's, while an endpoint is opened in it. Where a thread has an endpoint already, it stays.
// What happens, and why, is told at level info; what cannot be done is a warning, and changes nothing. Both
// are told when it is kept, not for each endpoint number that is tried in vain.
class Binding {
 public:
  Binding(const Board& board, std::uint32_t endpoint, const Settings& settings);
  // Unless it was kept, the thread may run where it could before.
  ~Binding();
  Binding(const Binding&) = delete;
  Binding& operator=(const Binding&) = delete;

  // For the endpoint to hold; nullptr: the thread has no place of its own.
  std::shared_ptr<Seat> keep();

 private:
  std::shared_ptr<Seat> seat_;
  std::vector<int> before_;  // empty: nothing was changed
  LogLevel level_ = LogLevel::info;
  std::string said_;  // what there is to say when it was kept
};

}  // namespace omx::runtime
