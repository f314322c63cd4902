// SPDX-License-Identifier: BSD-3-Clause
// CONNECT with its extension block.
// How encode_* and decode_* work is said in wire/codec.h.
#pragma once

#include <cstddef>

#include "wire/packets.h"

namespace omx::wire {

std::size_t encode_connect(std::byte* out, const Head& head, const Connect& packet);
Drop decode_connect(Frame frame, Connect& packet);

}  // namespace omx::wire
