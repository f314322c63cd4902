// SPDX-License-Identifier: BSD-3-Clause
#include "protocol/events/generations_meet.h"

#include "protocol/events/cleanup.h"
#include "protocol/state/generations.h"
#include "protocol/state/peer.h"
#include "protocol/state/state.h"
#include "protocol/types.h"

namespace omx::protocol {

bool generations_meet(State& s, Peer& p, std::uint32_t session, const wire::Connect& packet, bool trusted) {
  const wire::ConnectExt& theirs = packet.ext;
  if (p.known_otherwise(session)) {
    peer_cleanup(s, p, Cleanup::restarted);
    peer_renumber(p);
  }
  if (p.counting.peer_generation_session != session) {
    p.counting.peer_generation_session = session;
    p.counting.peer_generation = 0;
    p.counting.peer_generation_in_use = false;
  }
  if (theirs.generation == 0) return false;
  const int news =
      p.counting.peer_generation == 0 ? 1 : generation_compare(theirs.generation, p.counting.peer_generation);
  if (news < 0) return false;  // this is an outdated packet

  // The peer gave up the counter generation that we still offer, and will not use it again.
  const bool offer_refused =
      theirs.peer_generation == p.counting.generation && !theirs.peer_generation_in_use;
  if (p.counting.peer_generation_in_use && (news > 0 || offer_refused)) {
    peer_cleanup(s, p, Cleanup::abandoned);
  } else if (offer_refused) {
    peer_renumber(p);
  }
  // The peer's generation is adopted once. While the peer sends in a past generation of ours, it has not
  // heard that it is over. It will begin a new one when it does.
  const bool behind = theirs.peer_generation_in_use && theirs.peer_generation != p.counting.generation;
  // A peer that ended the conversation says so in answers too. An answer must not open the next conversation,
  // or new messages would follow messages that were given up.
  const bool opens = !packet.is_reply && !theirs.peer_generation_in_use;
  const bool accepts = theirs.peer_generation_in_use && theirs.peer_generation == p.counting.generation;
  if (news > 0 && !behind && trusted && (opens || accepts)) {
    p.counting.peer_generation = theirs.generation;
    p.counting.peer_generation_in_use = true;
    p.session.true_session = p.session.back_session = session;
    p.counting.next_send = p.counting.next_acked = packet.target_recv_seqnum_start;
    // A late acknowledgement may have come after the last generation was given up.
    p.counting.recv_acknum = 0;
  }
  return p.counting.peer_generation_in_use && theirs.peer_generation_in_use &&
         theirs.peer_generation == p.counting.generation;
}

}  // namespace omx::protocol
