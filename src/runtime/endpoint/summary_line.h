// SPDX-License-Identifier: BSD-3-Clause
// One line about the process (OMX_VERBOSE=1): which interface, what carries its messages, how many peers.
#pragma once

#include <cstddef>
#include <string>

#include "runtime/endpoint/endpoint_core.h"
#include "runtime/endpoint/rails.h"

namespace omx::runtime {

class SummaryLine {
 public:
  SummaryLine(EndpointCore& core, const Rails& rails) : core_(core), rails_(rails) {}

  // Logs the line when it is due, called about once a second. `last`: the endpoint is being closed.
  void check(bool last);

 private:
  std::string text(std::size_t peers) const;

  EndpointCore& core_;
  const Rails& rails_;
  std::size_t peers_ = 0;  // at the last check
  bool printed_ = false;
};

}  // namespace omx::runtime
