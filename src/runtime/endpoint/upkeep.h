// SPDX-License-Identifier: BSD-3-Clause
// What an endpoint does once a second. It takes some system calls, so it is not part of every turn.
#pragma once

#include "runtime/endpoint/board_answers.h"
#include "runtime/endpoint/endpoint_core.h"
#include "runtime/endpoint/outage_watch.h"
#include "runtime/endpoint/peer_names.h"
#include "runtime/endpoint/peer_reports.h"
#include "runtime/endpoint/publication.h"
#include "runtime/endpoint/rails.h"
#include "runtime/endpoint/silence_reports.h"
#include "runtime/endpoint/summary_line.h"

namespace omx::runtime {

class Upkeep {
 public:
  struct Parts {
    EndpointCore& core;
    BoardAnswers& answers;
    Rails& rails;
    OutageWatch& interfaces;
    Publication& publication;
    PeerNames& names;
    PeerReports& reports;
    SilenceReports& silence;
    SummaryLine& summary;
  };
  explicit Upkeep(const Parts& parts) : parts_(parts) {}

  bool due() const { return parts_.core.now >= next_; }
  // Returns when the upkeep is due next.
  TimeNs next() const { return next_; }
  void run();
  // Says that a descriptor of the endpoint's own link reported an error.
  void link_check();
  // Logs the last reports, as the endpoint is being closed.
  void last_reports();

 private:
  const Parts parts_;
  TimeNs next_ = 0;
};

}  // namespace omx::runtime
