// SPDX-License-Identifier: BSD-3-Clause
// Refuses a packet for a session that is gone, or a pull from a region that is gone
// (docs/spec/wire.md 4.9-4.11).
#pragma once

#include <cstdint>

#include "protocol/state/seqnum.h"
#include "protocol/types.h"
#include "wire/codec.h"
#include "wire/packets.h"

namespace omx::protocol {

struct State;

Status nack_status(wire::NackCode code);
void nack_lib_send(State& s, const wire::Head& head, wire::Frame frame, std::uint8_t to_endpoint,
                   Seqnum seqnum, wire::NackCode code);
void nack_mcp_send(State& s, const wire::Head& head, wire::Frame frame, const wire::Pull& pull,
                   wire::NackCode code);

}  // namespace omx::protocol
