// SPDX-License-Identifier: BSD-3-Clause
// Starts a send of the application.
#pragma once

#include "base/expected.h"
#include "protocol/types.h"

namespace omx::protocol {

struct SendOp;
struct State;

Expected<Request*, OpError> send_start(State& s, const SendOp& op);

}  // namespace omx::protocol
