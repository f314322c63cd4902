// SPDX-License-Identifier: BSD-3-Clause
// Epochs: how two extended peers make sure that they count messages alike (docs/reference/wire.md 5).
//
// Each side counts what it receives. Whenever it forgets a partner it begins a new count, under a new epoch,
// and stops using the partner's. CONNECT says which epoch its first number belongs to, which one of the
// receiver's the sender uses, and whether it still does. So nobody can mistake a late packet for news, nobody
// uses a count twice, and a side that was forgotten finds out and ends the conversation as well. The next one
// is opened by an application's connect only (docs/reference/contract.md). The session count in two bits of
// each number only keeps frames of different epochs apart.
#include "protocol/epochs.h"

namespace omx::protocol {

namespace {

// -1, 0, 1: a is older than b, the same, newer; modulo 2^31.
int epoch_compare(std::uint32_t a, std::uint32_t b) {
  const std::uint32_t ahead = (a - b) & wire::kEpochMask;
  if (ahead == 0) return 0;
  return ahead <= wire::kEpochMask / 2 ? 1 : -1;
}

}  // namespace

std::uint32_t epoch_first(std::uint32_t session) {
  // Differs from that of our last instance, of which packets may still be under way.
  const std::uint32_t epoch = (session * 0x9E3779B1U) & wire::kEpochMask;
  return epoch ? epoch : 1;
}

std::uint32_t epoch_next(std::uint32_t epoch) {
  return epoch == wire::kEpochMask ? 1 : epoch + 1;
}

void epoch_fill(const Partner& p, wire::ConnectExt& ext) {
  ext.epoch = p.epoch;
  ext.peer_epoch = p.peer_epoch;
  ext.peer_epoch_in_use = p.peer_epoch_in_use;
}

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

void epochs_doubt(State& s, Partner& p) {
  if (p.extended && p.connected()) connect_ask(s, p);
}

}  // namespace omx::protocol
