// SPDX-License-Identifier: BSD-3-Clause
// Messages that have arrived: the receive that each belongs to, or its place in the unexpected queue.
#pragma once

#include <cstddef>
#include <cstdint>

#include "wire/packets.h"

namespace omx::protocol {

struct Partial;
struct Peer;
struct Request;
struct State;
struct Unexpected;

// Creates the record of a message without a receive; nullptr: no memory.
Unexpected* unexpected_create(State& s, Peer& p, const wire::Message& m, std::uint32_t msg_length,
                              bool with_data);
void unexpected_free(State& s, Unexpected& u);
// Returns the receive for a new message, or nullptr. arrival_keep() queues a message without a receive, and
// arrival_drop() gives it up with its peer. All messages pass through these or arrival_matched(), so that the
// observer sees them.
Request* arrival_take(State& s, const Peer& from, std::uint64_t match_info, std::uint8_t message_class,
                      std::uint32_t msg_length);
// Takes a receive that the posted receives named for a new message. Returns it, or the one that a
// multi-receive buffer makes for the message.
Request& arrival_matched(State& s, const Peer& from, std::uint64_t match_info, std::uint32_t msg_length,
                         Request& found);
void arrival_keep(State& s, Unexpected& u);
void arrival_drop(State& s, Unexpected& u);
// Returns where the arriving message has these bytes; nullptr: nowhere, or not in one piece.
std::byte* partial_place(const Partial& partial, std::uint32_t offset, std::uint32_t length);
Unexpected* message_claim(State& s, std::uint64_t match_info, std::uint64_t match_mask, const Peer* source,
                          std::uint32_t session, std::uint8_t message_class);
// Fills in what the completion of a receive says about its message.
void receive_matched(Request& r, Peer* p, std::uint32_t session, std::uint64_t match_info,
                     std::uint32_t msg_length, bool has_data, std::uint64_t data);
void receive_count(State& s, const Request& r);

}  // namespace omx::protocol
