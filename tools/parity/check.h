// SPDX-License-Identifier: BSD-3-Clause
// omx_check: exchanges messages inside this host and checks their contents. `omx check` examines the host's
// settings, and omx_perf tests the cable.
#pragma once

namespace omx::tools {

int parity_check(int argc, char** argv);

}  // namespace omx::tools
