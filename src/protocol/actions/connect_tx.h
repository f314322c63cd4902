// SPDX-License-Identifier: BSD-3-Clause
// Sends CONNECT packets: requests and pings, with their extension block.
#pragma once

#include "wire/packets.h"

namespace omx::protocol {

struct Peer;
struct Request;
struct State;

wire::ConnectExt connect_extension(const State& s, const Peer& p);
void connect_packet_send(State& s, Peer& p, const wire::Connect& packet);
void connect_transmit(State& s, Request& r);
// Sends an unsolicited connect request to a silent peer. Its answer proves that the same instance lives.
void connect_ping(State& s, Peer& p);
// Pings a peer, but not more often than keep-alives do.
void connect_ask(State& s, Peer& p);
// Pings a peer to learn how long answers take, after too much was repeated to tell.
void trip_ask(State& s, Peer& p);
// Asks a peer, but not often, because a packet does not fit the agreed counts.
void generations_doubt(State& s, Peer& p);

}  // namespace omx::protocol
