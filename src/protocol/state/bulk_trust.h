// SPDX-License-Identifier: BSD-3-Clause
// Bulk paths: which peers have one, and which directions work (docs/reference/wire.md 15).
#pragma once

#include <cstdint>

#include "base/mac.h"
#include "protocol/state/bulk_types.h"
#include "protocol/types.h"
#include "wire/codec.h"
#include "wire/packets.h"
#include "wire/udp_bulk.h"

namespace omx::protocol {

struct Peer;
struct Request;
struct State;

// Least length and number of fragments of a message that goes by a bulk path.
inline constexpr std::uint32_t kBulkBytes = 4 * 1024, kBulkFragments = 3;  // shorter messages gain nothing

void bulk_out_set(Peer& p, bool works);
// Returns the time before which a part of the path, such as &BulkDistrust::in, is not used.
TimeNs bulk_trusted_from(const Peer& p, BulkPart part);
// Trusts a part of the path no more for a time that grows with each failure. Without memory it is tried again
// at once.
void bulk_distrust(State& s, Peer& p, BulkPart part);
// Forgets former failures of a part that has worked for a long time.
void bulk_trust_again(const State& s, Peer& p, BulkPart part);
// Takes over the bulk path that a peer announces. Returns the other peer that has it already, which keeps it;
// nullptr: none.
Peer* bulk_agree(State& s, Peer& p, const wire::ConnectExt& ext);
// Returns the peer that has that bulk path; its NIC is 0 if there is none.
wire::FrameSender bulk_owner(const State& s, const wire::BulkAddress& from);
void bulk_forget(State& s, Peer& p);
// Notes that single datagrams reach the peer, but GSO batches do not.
void bulk_batches_fail(State& s, Peer& p);
// Returns whether each frame for the peer must be a datagram of its own, because GSO batches are not proven
// to arrive. Without a bulk path there is no proof, and only repetitions leave alone.
bool bulk_alone(const State& s, const Peer& p);
// Counts a message of which a part leaves by the bulk path, once.
void bulk_sent_count(State& s, Request& r);
// Counts a message of which a part came by the bulk path.
void bulk_received_count(State& s, std::uint32_t length);
// Notes that a request of several frames was answered. `again`: the frames had been sent before.
void bulk_answered(State& s, Peer& p, bool again);
// Distrusts our bulk path for a peer, because data that were requested by it do not come.
void bulk_in_fails(State& s, Peer& p);
// Notes that a medium message by the bulk path was acknowledged. bulk_medium_lost() notes that it must be
// sent again.
void bulk_medium_done(const State& s, Peer& p, const Request& r);
void bulk_medium_lost(State& s, Request& r);

}  // namespace omx::protocol
