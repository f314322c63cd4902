// SPDX-License-Identifier: BSD-3-Clause
// Requests: creating them, and telling whether the application may still name one.
#pragma once

#include <cstdint>

#include "protocol/types.h"

namespace omx::protocol {

struct State;

Request* request_create(State& s, RequestKind kind);
std::uint32_t context_id(const State& s, std::uint64_t match_info);
// Returns whether the user may still name a request: it is of this endpoint, and not gone.
bool request_held(const State& s, const Request* r);

}  // namespace omx::protocol
