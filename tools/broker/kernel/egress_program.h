// SPDX-License-Identifier: BSD-3-Clause
// The program "omx_egress", which the kernel runs for each frame that leaves a NIC. Frames of sealed sockets
// pass only as their grant allows. It leaves all other frames alone.
#pragma once

#include "base/expected.h"
#include "base/own_fd.h"
#include "tools/broker/kernel/ebpf_code.h"
#include "tools/broker/kernel/grant_map.h"

namespace omx::broker {

inline constexpr const char* kEgressName = "omx_egress";

// Builds the instructions, which refer to the descriptors of the maps.
EbpfProgram egress_program_build(const GrantMaps& maps);
Result<OwnFd> egress_program_load(const GrantMaps& maps);

}  // namespace omx::broker
