// SPDX-License-Identifier: BSD-3-Clause
// omx_perf: ping-pong with omx_perf of Open-MX 1.x or this one, printing the same lines. `omx perf` measures
// more.
#pragma once

namespace omx::tools {

int parity_perf(int argc, char** argv);

}  // namespace omx::tools
