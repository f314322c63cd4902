// SPDX-License-Identifier: BSD-3-Clause
// omx_counters: prints the counters of Open-MX 1.x by their numbers and labels, as far as we count the same
// things. Our other counters follow with higher numbers. Counts are summed over the open endpoints of a
// board: an endpoint that closes takes its counts with it.
#pragma once

namespace omx::tools {

int parity_counters(int argc, char** argv);

}  // namespace omx::tools
