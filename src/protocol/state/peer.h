// SPDX-License-Identifier: BSD-3-Clause
// A remote endpoint as this endpoint sees it. The structure is kept small, because a large job has many idle
// peers.
#pragma once

#include "base/list.h"
#include "protocol/state/bulk_types.h"
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

struct EagerWindow;
struct ReorderBuffer;
struct Unexpected;

// The multi-fragment message that is arriving. There is at most one per peer, because messages complete in
// order (docs/spec/mx-clients.md 17). Later messages wait in the reorder buffer. It is kept only until the
// message is complete.
struct Partial {
  Request* request = nullptr;        // matched receive ...
  Unexpected* unexpected = nullptr;  // ... or the unexpected message; with neither, data are discarded
  bool by_bulk = false;              // its sender sent most of it by the bulk path
  bool asks_ack = false;             // the fragment that asks for the acknowledgement may not be the last
  std::uint8_t header = 0;           // bytes before the data of each fragment
  std::uint32_t msg_length = 0;
  std::uint32_t unit = 0;      // fragment size of this attempt
  std::uint32_t received = 0;  // bytes
  std::uint64_t mask = 0;      // fragments received
  TimeNs last = 0;             // when the last fragment came
  std::uint32_t number = 0;    // of the message, for copies
  OffloadTickets copies;

  const void* message() const { return request ? static_cast<const void*>(request) : unexpected; }
};

// --- Conversations (docs/reference/contract.md) ---
//
//          connect_start(), or a CONNECT request that opens
//   none ---------------------------------------------------> open
//    ^                                                          |
//    +----------------------------------------------------------+
//      peer_cleanup(): given up, abandoned, refused, restarted, disconnected
//
// Each conversation has a number, and addresses carry it. An address that was obtained in one conversation is
// useless in the next. Only those two events open a conversation; the answer to a ping never does.
//
// --- Sessions (docs/spec/wire.md 6.3) ---
//
//                CONNECT request received
//   unknown -------------------------------> back_session known: pulls, NOTIFYs and acks may leave
//      |                                                  |
//      | CONNECT reply received                           | generations_meet() or legacy_reply()
//      v                                                  v
//   true_session known: connected() <---------------------+
//      |
//      +--another session answers, a refusal, silence: peer_cleanup()--> unknown
//
// A legacy peer gets no numbers before it answered a CONNECT request of ours. Until back_known is set,
// held_back() is true.
struct PeerSession {
  std::uint32_t true_session = wire::kUnknownSession;
  std::uint32_t back_session = wire::kUnknownSession;
  std::uint32_t key = 0;  // the key that the peer accepted last; pings repeat it
  std::uint32_t ended_session = wire::kUnknownSession;  // its session in the last conversation that ended
  std::uint16_t peer_index = wire::kUnknownPeerIndex;
  std::uint16_t conversation = 1;  // number of the open conversation, or else of the next
  std::uint8_t connect_seqnum = 0;
  Status gone = Status::endpoint_unreachable;  // how the last conversation, and any send after it, ended
  bool back_known = false;  // the peer has our session from a CONNECT request of ours (legacy.cc)
};

// Signs of life, and what we ask of the peer by ourselves: pings, and probes of larger frames (probe.cc).
struct PeerLiveness {
  TimeNs last_heard = 0;
  TimeNs ping_due = 0;
  TimeNs ping_sent = 0;
  TimeNs probe_due = 0;
  std::uint32_t probe_size = 0;  // frame size being probed; 0: none
  std::uint8_t ping_seqnum = 0;
  std::uint8_t pings_unanswered = 0;
  std::uint8_t watch_looked = 0;  // time slot of the last check that needed no connection (watch.cc)
  bool ping_pending : 1 = false;
  bool ping_repeated : 1 = false;
  bool silence_told : 1 = false;  // PeerNews::silent was reported, PeerNews::back not yet
};

// Message numbers and their counter generations.
struct PeerCounting {
  Seqnum next_send = 0xFFFF;        // next number to use
  Seqnum next_acked = 0xFFFF;       // oldest number that is not acknowledged
  Seqnum next_match = kSeqFirst;    // next number to process, which acks carry; all before it are complete
  Seqnum last_acked = kSeqFirst;    // last value that we put in an ack
  Seqnum announced = kSeqFirst;     // next_match in our last CONNECT
  std::uint8_t connect_rounds = 0;  // replies so far that showed no agreement
  bool peer_generation_in_use = false;
  std::uint32_t acked_since_asked = 0;  // messages acknowledged since the oldest unanswered CONNECT request
  // Counter generations, between extended peers (generations.cc).
  std::uint32_t generation = 0;       // of next_match
  std::uint32_t peer_generation = 0;  // of next_send; 0: the peer has not named one
  std::uint32_t peer_generation_session = wire::kUnknownSession;
  std::uint32_t send_acknum = 0;
  std::uint32_t recv_acknum = 0;
  bool generation_offered = false;  // a CONNECT offered our generation to the peer
  bool ack_pending = false;         // a delayed ack is armed
  bool ack_asked = false;           // the peer waits for the next ack
  bool marks_untold = false;        // frames of it were marked (ECN), which the next ack says
  std::uint32_t resends = 0;        // for monitoring
};

// Agreement by the extension blocks, and the sizes that follow from it.
struct PeerAgreed {
  bool extended = false;
  bool checksum = false;
  wire::Mode mode = wire::Mode::omx;
  wire::Mode mode_told = wire::Mode::omx;  // the mode that an extended peer announced
  std::uint16_t features = 0;              // features that the peer announced
  std::uint16_t eager_credit = 0;          // frames that the peer can hold unacknowledged
  std::uint32_t frame_agreed = 0;
  std::uint32_t frame_max = 0;  // largest frame proven in both directions
  std::uint32_t frame_in = 0;   // largest frame that came as a probe; enough for what we request
  std::uint32_t rndv_threshold = 0;
  // The largest frame of an intra-node peer (direct.h), which needs no probe.
  std::uint16_t intra_node_frame = 0;
  wire::Sizes sizes;  // sizes that we send with
  std::uint8_t probe_tries = 0;
  bool probe_wanted = false;  // probe with the first large message
  std::uint8_t peer_pull_frames = 32;
  std::uint8_t intra_node_pull_frames = 32;
};

// Large messages to and from a peer: its bulk path (bulk_trust.cc) and the unscheduled data that we send
// (unscheduled.cc).
struct PeerBulk {
  wire::BulkAddress address;
  bool in : 1 = false;            // data that it sends by our bulk path arrive
  bool out : 1 = false;           // GSO batches that we send by its bulk path arrive
  bool batches_fail : 1 = false;  // single datagrams arrive, GSO batches do not
  bool gso_asked : 1 = false;     // it asked for GSO frames last
  bool alone : 1 = false;         // it said last that no other peer sends to it (unscheduled.cc)
  // Scores of messages and answers that had to be sent again (bulk_trust.cc), and of medium messages in GSO
  // frames. Both stay below 16.
  std::uint8_t losses : 4 = 0;
  std::uint8_t gso_losses : 4 = 0;
  std::uint8_t offers = 0;  // probes that were not answered
  std::uint8_t unscheduled_pause = 0,
               unscheduled_skip = 0;  // messages to send without such data: in all, and left
  // Medium messages that came by the bulk path before their announcement. Negative: announcements that came
  // first. And when the last one of either came (bulk_awaited.cc).
  std::int8_t unannounced = 0;
  std::uint16_t unannounced_at = 0;
  std::uint32_t larges_out = 0;      // large messages that are not notified yet
  BulkDistrust* distrust = nullptr;  // only since something of the path failed
  TimeNs probe_due = 0;
  TimeNs unscheduled_until = 0;
};

// Parked messages (parked.cc).
struct PeerParking {
  // As receiver: whether to ask for envelopes, and how many messages, from the next on, come as envelopes.
  bool park_asked = false;
  std::uint16_t park_range = 0;
  // As sender: how many messages go as envelopes before one tries to bring its data, now and next time.
  std::uint16_t park_left = 0, park_next = 0;
};

// State of sending to a peer.
struct PeerTx {
  List<Request, &Request::queue> queued;
  List<Request, &Request::queue> unacked;  // in number order
  List<Request, &Request::queue> await_notify;
  List<Request, &Request::queue> connects;
  Request* last_notify = nullptr;  // last of the NOTIFYs, which are at the head of `queued`
  std::uint32_t notifies_queued = 0;
  std::uint32_t frames_unacked = 0;
  TimeNs acked_at = 0;           // when the peer last acknowledged something new
  EagerWindow* eager = nullptr;  // while the path loses messages, or is tried (eager_window.h)
  std::uint8_t backoff = 0;
  std::uint8_t eager_windows : 4 = 0;  // such windows so far, at most some
  std::uint8_t eager_proven : 4 = 0;   // doublings of the bytes that the path has carried at once
  bool region_blocked = false;         // in state.region_waiters
  bool sacks = false;                  // some unacked request is marked sacked
  RoundTrip trip;
};

// The pulls from a peer. They are kept only while there are any.
struct PeerPulls {
  explicit PeerPulls(Peer& p) : peer(p) {}

  Peer& peer;
  std::uint32_t count = 0;
  std::uint32_t running = 0;           // those that have a handle
  std::uint64_t answered = 0;          // latest request (see PullBlock::asked) that the peer began to answer
  TimeNs heard = 0;                    // its last answer to any pull
  List<Pull, &Pull::wanting> wanting;  // those that may ask for more, oldest first
  ListHook turn;                       // state.pulling.turns
};

// State of receiving from a peer.
struct PeerRx {
  Partial* partial = nullptr;  // the message of several fragments that is arriving
  ReorderBuffer* reorder = nullptr;
  TimeNs ack_due = 0;
  List<Request, &Request::queue> awaited;  // posted receives that wait for this peer
  PeerPulls* pulls = nullptr;
  std::size_t unexpected_bytes = 0;  // bytes of its messages that wait for a receive
  std::uint32_t envelopes = 0;       // messages among those that have no data here
  // Frames of messages that completed since the last acknowledgement. They use up the sender's credit.
  std::uint32_t frames_owed = 0;
};

// Figures for monitoring (snapshot.h).
struct PeerFigures {
  std::uint64_t messages_sent = 0, bytes_sent = 0, messages_received = 0, bytes_received = 0;
};

struct Peer {
  Peer() : ack_timer(TimerKind::ack), resend_timer(TimerKind::resend) {}

  // Identity.
  NicId nic = 0;
  Peer* hash_next = nullptr;
  void* context = nullptr;
  std::uint32_t index = 0;
  std::uint8_t endpoint = 0;
  bool self = false;

  // The members that every short message needs are adjacent. The order leaves no holes.
  PeerParking parking;
  PeerSession session;
  PeerCounting counting;
  PeerAgreed agreed;
  Timer ack_timer;
  Timer resend_timer;
  PeerTx tx;
  PeerRx rx;
  PeerLiveness liveness;
  PeerFigures figures;
  PeerBulk bulk;
  Rails* rails = nullptr;  // set when both ends have several boards

  ListHook ack_now;             // state.ack_now
  Peer* region_next = nullptr;  // state.region_waiters

  bool connected() const { return session.true_session != wire::kUnknownSession; }
  // Returns whether the peer is known as an instance in another session than `other`.
  bool known_otherwise(std::uint32_t other) const {
    const bool known = connected() || session.back_session != wire::kUnknownSession;
    return known && session.true_session != other && session.back_session != other;
  }
  // Returns the session for PULL, NOTIFY and TRUC. The reference knows this session only after a connect-back
  // (docs/spec/protocol.md 3.3, first trap). The true session names the same endpoint instance.
  std::uint32_t reply_session() const {
    return session.back_session != wire::kUnknownSession ? session.back_session : session.true_session;
  }
  // Returns whether a PULL_REPLY or NACK_MCP that names this endpoint as its source is another endpoint's.
  bool misnamed(std::uint8_t source) const {
    return source != endpoint && (agreed.features & wire::kFeatureSource) != 0;
  }
  // Returns whether numbered packets must wait until our first CONNECT request is answered (legacy.cc).
  bool held_back() const { return connected() && !agreed.extended && !session.back_known; }
  // Returns whether frames to the peer may have a header extension (docs/reference/wire.md 7).
  bool carries_ext() const {
    return agreed.mode == wire::Mode::omx && (agreed.features & wire::kFeatureHeaderExt) != 0;
  }
  // Returns whether larger frames are in use, so that frames of `size` may get through where those do not.
  bool larger_frames_than(std::uint32_t size) const {
    return agreed.intra_node_frame == 0 && (agreed.frame_max > size || agreed.frame_in > size);
  }
  // Returns whether messages to the peer stay inside this host.
  bool inside_host() const { return self || agreed.intra_node_frame != 0; }
  std::uint32_t outstanding() const { return seq_diff(counting.next_send, counting.next_acked); }
};

}  // namespace omx::protocol
