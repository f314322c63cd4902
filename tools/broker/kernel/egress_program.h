// SPDX-License-Identifier: BSD-3-Clause
// The program "omx_egress", which the kernel runs for each frame that leaves an interface. Frames of sealed
// sockets pass only as their grant allows.
//
// At the macvlan in the private network it drops all other frames, as no one else may send there. So the
// frames of the host are not slowed down, and no filter of the host comes before it. A socket could avoid
// that hook by PACKET_QDISC_BYPASS, which the seal forbids. At the NIC it leaves all other frames alone.
#pragma once

#include <cstdint>

#include "base/expected.h"
#include "base/own_fd.h"
#include "tools/broker/kernel/ebpf_code.h"
#include "tools/broker/kernel/grant_map.h"

namespace omx::broker {

inline constexpr const char* kEgressName = "omx_egress";

// The fate of frames without the mark of a sealed socket.
enum class Unmarked : std::uint8_t { pass, drop };

// Builds the instructions, which refer to the descriptors of the maps.
EbpfProgram egress_program_build(const GrantMaps& maps, Unmarked unmarked);
Result<OwnFd> egress_program_load(const GrantMaps& maps, Unmarked unmarked);

}  // namespace omx::broker
