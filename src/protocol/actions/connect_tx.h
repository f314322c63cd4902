// SPDX-License-Identifier: BSD-3-Clause
// CONNECT packets on their way out: requests, pings, and what the extension block says.
#pragma once

#include "wire/packets.h"

namespace omx::protocol {

struct Partner;
struct Request;
struct State;

wire::ConnectExt connect_extension(const State& s, const Partner& p);
void connect_packet_send(State& s, Partner& p, const wire::Connect& packet);
void connect_transmit(State& s, Request& r);
// An unsolicited connect request to a silent partner: its answer proves that the same instance lives.
void connect_ping(State& s, Partner& p);
// The same, though not more often than keep-alives.
void connect_ask(State& s, Partner& p);
// How long answers take is not known, as too much was repeated: asks for one that tells.
void trip_ask(State& s, Partner& p);
// A packet does not fit the agreed counts: asks, though not often.
void epochs_doubt(State& s, Partner& p);

}  // namespace omx::protocol
