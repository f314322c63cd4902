// SPDX-License-Identifier: BSD-3-Clause
// What an agent tells about its host.
#pragma once

#include "tools/cluster/record.h"

namespace omx::tools {

inline constexpr std::uint32_t kFramesMost = 10'000'000;  // data frames of one measurement

// Fields: version, name, kernel, processor, error; of each board boardN.interface, .mac, .mtu, .speed,
// .driver, .running; setting.OMX_X; verdict.SUBJECT and remedy.SUBJECT of what `omx check` examines.
Record agent_facts();

}  // namespace omx::tools
