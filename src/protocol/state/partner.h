// SPDX-License-Identifier: BSD-3-Clause
// A remote endpoint as this endpoint sees it. Kept small: a large job has many idle ones.
#pragma once

#include "base/list.h"
#include "protocol/state/lane_types.h"
#include "protocol/state/pull.h"
#include "protocol/state/rail_paths.h"
#include "protocol/state/request.h"
#include "protocol/state/round_trip.h"
#include "protocol/state/seqnum.h"
#include "protocol/state/timer.h"
#include "protocol/types.h"
#include "wire/packets.h"
#include "wire/sizes.h"

namespace omx::protocol {

struct EarlyWindow;
struct Unexpected;

// The multi-fragment message that is arriving. There is at most one per partner: messages complete in
// order (docs/spec/mx-clients.md 17), later ones wait in the early window.
struct Partial {
  Request* request = nullptr;        // matched receive ...
  Unexpected* unexpected = nullptr;  // ... or unexpected message; neither: data are discarded
  bool active = false;
  std::uint8_t header = 0;  // bytes before the data of each fragment
  std::uint32_t msg_length = 0;
  std::uint32_t unit = 0;      // fragment size of this attempt
  std::uint32_t received = 0;  // bytes
  std::uint64_t mask = 0;      // fragments received
  TimeNs last = 0;             // when the last of them came

  const void* message() const { return request ? static_cast<const void*>(request) : unexpected; }
};

// --- Conversations (docs/reference/contract.md) ---
//
//          connect_start(), or a CONNECT request that opens
//   none ---------------------------------------------------> open
//    ^                                                          |
//    +----------------------------------------------------------+
//      partner_cleanup(): given up, abandoned, refused, restarted, disconnected
//
// Each is numbered, and addresses carry the number: what the application obtained in one is of no use in
// the next. Nothing but those two events opens one: the answer to a ping never does.
//
// --- Sessions (docs/spec/wire.md 6.3) ---
//
//                CONNECT request received
//   unknown -------------------------------> back_session known: pulls, NOTIFYs and acks may leave
//      |                                                  |
//      | CONNECT reply received                           | counts agree (epochs_meet(), reference_reply())
//      v                                                  v
//   true_session known: connected() <---------------------+
//      |
//      +--another session answers, a refusal, silence: partner_cleanup()--> unknown
//
// Legacy peers get no number before they answered a CONNECT request of ours: held_back() until back_known.
struct PeerSession {
  std::uint32_t true_session = wire::kUnknownSession;
  std::uint32_t back_session = wire::kUnknownSession;
  std::uint32_t key = 0;                                // that the peer accepted last; pings repeat it
  std::uint32_t ended_session = wire::kUnknownSession;  // of the peer in the last conversation that ended
  std::uint16_t peer_index = wire::kUnknownPeerIndex;
  std::uint16_t conversation = 1;  // the open one, or else the next
  std::uint8_t connect_seqnum = 0;
  Status gone = Status::endpoint_unreachable;  // how the last conversation ended; sends without one end so
  bool back_known = false;  // the peer has our session from a CONNECT request of ours (reference.cc)
};

// Signs of life.
struct PeerLiveness {
  TimeNs last_heard = 0;
  TimeNs ping_due = 0;
  TimeNs ping_sent = 0;
  std::uint8_t ping_seqnum = 0;
  std::uint8_t pings_unanswered = 0;
  std::uint8_t watch_looked = 0;  // when no waiter wanted a connection (watch.cc)
  bool ping_pending = false, ping_repeated = false;
  bool silence_told = false;  // PeerNews::silent is out, and not yet ::back
};

// Numbers of messages, and their generations.
struct PeerCounting {
  Seqnum next_send = 0xFFFF;        // next number to use
  Seqnum next_acked = 0xFFFF;       // oldest not acknowledged
  Seqnum next_match = kSeqFirst;    // next number to process; all before are complete: what we ack
  Seqnum last_acked = kSeqFirst;    // last value we put in an ack
  Seqnum announced = kSeqFirst;     // next_match in our last CONNECT
  std::uint8_t connect_rounds = 0;  // replies that showed no agreement yet
  bool peer_epoch_in_use = false;
  std::uint32_t acked_since_asked = 0;  // since the oldest CONNECT request that is not answered
  // Epochs of the counts, between extended peers (epochs.cc).
  std::uint32_t epoch = 0;       // of next_match
  std::uint32_t peer_epoch = 0;  // of next_send; 0: never had one
  std::uint32_t peer_epoch_session = wire::kUnknownSession;
  std::uint32_t send_acknum = 0;
  std::uint32_t recv_acknum = 0;
  bool epoch_offered = false;  // a CONNECT that meant it said what our epoch is
  bool ack_pending = false;    // delayed ack armed
};

// What the extension blocks agreed, and the sizes that follow from it.
struct PeerAgreed {
  bool extended = false;
  bool checksum = false;
  wire::Mode mode = wire::Mode::omx;
  wire::Mode mode_told = wire::Mode::omx;  // the peer's own, if it is extended
  std::uint16_t features = 0;              // the peer's
  std::uint16_t eager_credit = 0;          // frames it can hold unacknowledged
  std::uint32_t frame_agreed = 0;
  std::uint32_t frame_max = 0;   // proven in both directions
  std::uint32_t frame_in = 0;    // came from it as a probe: enough for what we ask of it
  std::uint32_t probe_size = 0;  // being tried; 0 = none
  TimeNs probe_due = 0;
  // Of a peer inside the host (direct.h): the largest frame, which needs no proof.
  std::uint32_t near_frame = 0;
  std::uint32_t near_rndv_threshold = 0;
  std::uint32_t rndv_threshold = 0;
  std::uint8_t probe_tries = 0;
  bool probe_wanted = false;  // when the first large message comes
  std::uint8_t peer_pull_frames = 32;
  std::uint8_t near_pull_frames = 32;
  wire::Sizes sizes;  // that we send with
};

// Large messages to and from a peer: its bulk path (UDP lane, lane.cc), and data that we send unscheduled
// (unasked.cc).
struct PeerBulk {
  wire::LaneAddress lane;
  bool lane_in = false;          // what it sends by ours comes
  bool lane_out = false;         // what we send by its comes, several frames in one piece
  bool trains_fail = false;      // single ones come, several in one piece do not
  std::uint8_t lane_losses = 0;  // messages and answers in a row that had to be sent again
  std::uint8_t lane_offers = 0;  // probes that were not answered
  std::uint8_t unasked_pause = 0, unasked_skip = 0;  // messages after one that was of no use
  std::uint32_t larges_out = 0;                      // large messages that are not notified
  LaneTrust lane_in_trust, lane_out_trust;
  TimeNs lane_probe_due = 0;
  TimeNs unasked_until = 0;
};

// Parked messages (parked.cc).
struct PeerParking {
  // As receiver: envelopes are to be asked for; so many messages, from the next on, come as envelopes.
  bool park_asked = false;
  std::uint16_t park_range = 0;
  // As sender: so many go as envelopes before one tries; and the time after.
  std::uint16_t park_left = 0, park_next = 0;
};

// What is sent to a peer.
struct PeerTx {
  List<Request, &Request::queue> queued;
  List<Request, &Request::queue> unacked;  // in number order
  List<Request, &Request::queue> await_notify;
  List<Request, &Request::queue> connects;
  Request* last_notify = nullptr;  // of the NOTIFYs, which stand at the head of `queued`
  std::uint32_t notifies_queued = 0;
  std::uint32_t frames_unacked = 0;
  TimeNs acked_at = 0;  // when it last acknowledged something new
  std::uint8_t backoff = 0;
  bool region_blocked = false;  // in state.region_waiters
  bool sacks = false;           // some unacked request is marked sacked
  RoundTrip trip;
};

// What comes from a peer.
struct PeerRx {
  Partial partial;
  EarlyWindow* early = nullptr;
  TimeNs ack_due = 0;
  List<Request, &Request::queue> awaited;  // posted receives whose message it owes us
  std::uint32_t pulls = 0;                 // from it
  std::uint32_t pulls_running = 0;         // of those, with a handle
  std::uint64_t pull_answered = 0;         // the latest request (as PullBlock::asked) that it began to answer
  TimeNs pull_heard = 0;                   // its last answer to any of them
  List<Pull, &Pull::wanting> pulls_wanting;  // that may ask for more, oldest first
  std::size_t unexpected_bytes = 0;          // of its messages that wait for a receive
  std::uint32_t envelopes = 0;               // of these, without data
  // Of complete messages since the last acknowledgement: its sender may have no more than so many.
  std::uint32_t frames_owed = 0;
};

// For those who look at us (snapshot.h).
struct PeerFigures {
  std::uint64_t messages_sent = 0, bytes_sent = 0, messages_received = 0, bytes_received = 0;
  std::uint32_t resends = 0;
};

struct Partner {
  Partner() : ack_timer(TimerKind::ack), resend_timer(TimerKind::resend) {}

  // Identity.
  NicId nic = 0;
  Partner* hash_next = nullptr;
  void* context = nullptr;
  std::uint32_t index = 0;
  std::uint8_t endpoint = 0;
  bool self = false;

  // What every short message needs stands together.
  PeerParking parking;
  PeerSession session;
  PeerCounting counting;
  PeerAgreed agreed;
  PeerTx tx;
  PeerRx rx;
  PeerLiveness liveness;
  PeerFigures figures;
  PeerBulk bulk;
  Rails* rails = nullptr;  // not nullptr: both ends have several boards

  Timer ack_timer;
  Timer resend_timer;
  ListHook ack_now;      // state.ack_now
  ListHook region_wait;  // state.region_waiters
  ListHook pull_turn;    // state.pulling.turns

  bool connected() const { return session.true_session != wire::kUnknownSession; }
  // As an instance that is not in this session.
  bool known_otherwise(std::uint32_t other) const {
    const bool known = connected() || session.back_session != wire::kUnknownSession;
    return known && session.true_session != other && session.back_session != other;
  }
  // Session for PULL, NOTIFY and TRUC: the reference knows it only after a connect-back
  // (docs/spec/protocol.md 3.3, first trap); the true session names the same endpoint instance.
  std::uint32_t reply_session() const {
    return session.back_session != wire::kUnknownSession ? session.back_session : session.true_session;
  }
  // No number may leave before our first CONNECT request was answered (reference.cc).
  bool held_back() const { return connected() && !agreed.extended && !session.back_known; }
  // Whether frames to it may have a header extension (docs/reference/wire.md 7).
  bool carries_ext() const {
    return agreed.mode == wire::Mode::omx && (agreed.features & wire::kFeatureHeaderExt) != 0;
  }
  // Whether smaller ones may get through where these do not.
  bool larger_frames_than(std::uint32_t size) const {
    return agreed.near_frame == 0 && (agreed.frame_max > size || agreed.frame_in > size);
  }
  std::uint32_t outstanding() const { return seq_diff(counting.next_send, counting.next_acked); }
};

}  // namespace omx::protocol
