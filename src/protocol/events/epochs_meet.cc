// SPDX-License-Identifier: BSD-3-Clause
#include "protocol/events/epochs_meet.h"

#include "protocol/events/cleanup.h"
#include "protocol/state/epochs.h"
#include "protocol/state/partner.h"
#include "protocol/state/state.h"
#include "protocol/types.h"

namespace omx::protocol {

bool epochs_meet(State& s, Partner& p, std::uint32_t session, const wire::Connect& packet, bool trusted) {
  const wire::ConnectExt& theirs = packet.ext;
  if (p.known_otherwise(session)) {
    partner_cleanup(s, p, Cleanup::restarted);
    partner_renumber(p);
  }
  if (p.peer_epoch_session != session) {
    p.peer_epoch_session = session;
    p.peer_epoch = 0;
    p.peer_epoch_in_use = false;
  }
  if (theirs.epoch == 0) return false;
  const int news = p.peer_epoch == 0 ? 1 : epoch_compare(theirs.epoch, p.peer_epoch);
  if (news < 0) return false;  // late

  // It gave up the count that we still offer: it will not use that again.
  const bool offer_refused = theirs.peer_epoch == p.epoch && !theirs.peer_epoch_in_use;
  if (p.peer_epoch_in_use && (news > 0 || offer_refused)) {
    partner_cleanup(s, p, Cleanup::abandoned);
  } else if (offer_refused) {
    partner_renumber(p);
  }
  // Its count is adopted once. While it sends in one of ours that is past, it has not heard of that, and will
  // begin a new one when it does.
  const bool behind = theirs.peer_epoch_in_use && theirs.peer_epoch != p.epoch;
  // A peer that has ended the conversation says so in answers, too: those must not open the next one, or what
  // is sent then would follow messages that were given up.
  const bool opens = !packet.is_reply && !theirs.peer_epoch_in_use;
  const bool accepts = theirs.peer_epoch_in_use && theirs.peer_epoch == p.epoch;
  if (news > 0 && !behind && trusted && (opens || accepts)) {
    p.peer_epoch = theirs.epoch;
    p.peer_epoch_in_use = true;
    p.true_session = p.back_session = session;
    p.next_send = p.next_acked = packet.target_recv_seqnum_start;
    p.recv_acknum = 0;  // a late acknowledgement may have come after the last count was given up
  }
  return p.peer_epoch_in_use && theirs.peer_epoch_in_use && theirs.peer_epoch == p.epoch;
}

}  // namespace omx::protocol
