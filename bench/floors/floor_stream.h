// SPDX-License-Identifier: BSD-3-Clause
// A stream of full frames, or of messages cut into frames. Frames are gathered and sent with sendmmsg, and
// received with recvmmsg so that each payload arrives in its final place. Credits limit the frames in flight
// to what the receiver can hold.
#pragma once

#include "bench/floors/floor_raw.h"

namespace omx::bench {

// Receive and send the stream.
void stream_server(const FloorOptions& options);
void stream_client(const FloorOptions& options, NicId peer);

}  // namespace omx::bench
