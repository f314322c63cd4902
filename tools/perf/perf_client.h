// SPDX-License-Identifier: BSD-3-Clause
// The client of `omx perf`: decides what is exchanged, and measures it.
#pragma once

#include "tools/perf/perf_options.h"

namespace omx::tools {

// Measures. Returns the exit status.
int perf_measure(const PerfOptions& options);

}  // namespace omx::tools
