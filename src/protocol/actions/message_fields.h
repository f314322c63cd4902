// SPDX-License-Identifier: BSD-3-Clause
// Fills the fields and copies the data that the packets of messages share.
#pragma once

#include <cstddef>

#include "protocol/state/seqnum.h"
#include "wire/packets.h"

namespace omx::protocol {

struct Peer;
struct Request;
struct State;

// Fills the fields of message_fill() that do not depend on the message.
void header_fill(const State& s, const Peer& p, Seqnum seqnum, bool urgent, wire::Message& packet);
// Fills the fields that TINY, SMALL, MEDIUM and RNDV share. Each packet carries the freshest acknowledgement.
void message_fill(State& s, const Request& r, bool urgent, wire::Message& packet);
wire::HeaderExt ext_of(const Request& r);
// Copies all data of a short message, from its own copy or the user's memory.
void payload_copy(const Request& r, std::byte* out);

}  // namespace omx::protocol
