// SPDX-License-Identifier: BSD-3-Clause
// The texts of a report: one line for people, and one of JSON.
#pragma once

#include <cstddef>
#include <string>

#include "runtime/report/report_totals.h"

namespace omx::runtime {

// The processes that a report is about.
struct ReportHeading {
  std::string host;
  std::size_t processes = 1;  // that reported
  std::size_t missing = 0;    // processes of the same job and host that ended without a report
};

std::string report_line(const ReportHeading& heading, const ReportTotals& totals);
std::string report_json(const ReportHeading& heading, const ReportTotals& totals);

}  // namespace omx::runtime
