// SPDX-License-Identifier: BSD-3-Clause
// The server of `omx perf`: does what clients request, one client after the other.
#pragma once

#include "tools/perf/perf_options.h"

namespace omx::tools {

// Serves clients until it is ended, or one client with --once. Returns the exit status.
int perf_serve(const PerfOptions& options);

}  // namespace omx::tools
