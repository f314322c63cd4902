// SPDX-License-Identifier: BSD-3-Clause
// omx_init_peers: writes names into the peers file, which programs read when they start. Unlike the kernel's
// table of Open-MX 1.x, the file need not be filled at each start of the host.
#pragma once

namespace omx::tools {

int parity_init_peers(int argc, char** argv);

}  // namespace omx::tools
