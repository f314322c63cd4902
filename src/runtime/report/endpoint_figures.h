// SPDX-License-Identifier: BSD-3-Clause
// What one endpoint did, for the report at the end of a job.
#pragma once

#include "runtime/endpoint/endpoint.h"
#include "runtime/report/report_totals.h"

namespace omx::runtime {

// Adds the figures of an endpoint that is open, or about to be destroyed.
void report_add(Endpoint& endpoint, ReportTotals& totals);

}  // namespace omx::runtime
