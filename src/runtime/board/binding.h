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

// The processor where a thread was put. The thread's endpoints hold the seat; when they are closed, the
// processor counts as free again.
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

// Places the calling thread while it opens an endpoint. A thread that has an endpoint already stays where it
// is. What happens and why is logged at level info. A placement that fails is a warning and changes nothing.
// Both are logged in keep(), not for each endpoint number that turns out to be busy.
class Binding {
 public:
  Binding(const Board& board, std::uint32_t endpoint, const Settings& settings);
  // Gives the thread its former processors back, unless keep() was called.
  ~Binding();
  Binding(const Binding&) = delete;
  Binding& operator=(const Binding&) = delete;

  // Returns the seat, which the endpoint holds; nullptr if the thread has no processor of its own.
  std::shared_ptr<Seat> keep();

 private:
  std::shared_ptr<Seat> seat_;
  std::vector<int> before_;  // empty: nothing was changed
  LogLevel level_ = LogLevel::info;
  std::string said_;  // what keep() logs
};

}  // namespace omx::runtime
