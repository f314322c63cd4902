// SPDX-License-Identifier: BSD-3-Clause
// CONNECT with its extension block (docs/spec/wire.md 4.1, docs/reference/wire.md 5).
#pragma once

#include <cstddef>

#include "wire/packets.h"

namespace omx::wire {

std::size_t encode_connect(std::byte* out, const Head& head, const Connect& packet);
Drop decode_connect(Frame frame, Connect& packet);

}  // namespace omx::wire
