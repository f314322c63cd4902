// SPDX-License-Identifier: BSD-3-Clause
// omx_info: shows the boards and the known peers.
#pragma once

namespace omx::tools {

int parity_info(int argc, char** argv);

}  // namespace omx::tools
