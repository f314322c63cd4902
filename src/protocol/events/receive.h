// SPDX-License-Identifier: BSD-3-Clause
// Posts receives for the application.
#pragma once

#include "base/expected.h"
#include "protocol/types.h"

namespace omx::protocol {

struct ReceiveOp;
struct State;

Expected<Request*, OpError> receive_start(State& s, const ReceiveOp& op);
Expected<Request*, OpError> claimed_receive(State& s, Unexpected& u, const ReceiveOp& op);
bool claimed_discard(State& s, Unexpected& u);

}  // namespace omx::protocol
