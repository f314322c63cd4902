// SPDX-License-Identifier: BSD-3-Clause
// omx_endpoint_info: shows which endpoints are open, and which processes opened them.
#pragma once

namespace omx::tools {

int parity_endpoint_info(int argc, char** argv);

}  // namespace omx::tools
