// SPDX-License-Identifier: BSD-3-Clause
// Names for counters, traces and messages.
#pragma once

#include "wire/packets.h"

namespace omx::wire {

const char* packet_type_name(PacketType type);
const char* drop_name(Drop drop);

}  // namespace omx::wire
