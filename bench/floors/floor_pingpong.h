// SPDX-License-Identifier: BSD-3-Clause
// Half round trips of one frame. Both sides poll a memory-mapped ring, or sleep until a frame is in it. Each
// side copies the payload out of the ring, as every message layer must to deliver it.
#pragma once

#include "bench/floors/floor_raw.h"

namespace omx::bench {

// Answer and measure the ping-pong.
void pingpong_server(const FloorOptions& options);
void pingpong_client(const FloorOptions& options, NicId peer);

}  // namespace omx::bench
