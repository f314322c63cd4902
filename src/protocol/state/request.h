// SPDX-License-Identifier: BSD-3-Clause
// One operation of the application. A request has two lives: one for the user (pending, done, gone) and one
// for the protocol (until acknowledged). It is freed when both are over. A send that is done for the user but
// not yet acknowledged is a buffered send, MX's "zombie" (docs/spec/protocol.md 11).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "base/list.h"
#include "protocol/state/segments.h"
#include "protocol/state/seqnum.h"
#include "protocol/types.h"

namespace omx::protocol {

struct MultiReceive;
struct Peer;
struct Pull;
struct State;
struct Unexpected;

// The ways in which a send travels. `notify` is what a receive of a large message sends at its end.
enum class SendClass : std::uint8_t { tiny, small, medium, large, notify };

// --- A send ---
//
//   queued --a number--> unacked --acknowledged--> finished                         tiny, small, medium
//      |                    |
//      |                    +--acknowledged--> await_notify --NOTIFY--> finished    large
//      |                    |
//      |                    +--NOTIFY, then acknowledged--> finished                large
//      +--the conversation ends--> finished, from every phase
//
// A medium message that is parked continues as a large one while it is unacked (park.cc). For the user a send
// may be done earlier, once its data are copied. A forgotten send is never done for the user.
//
// --- A receive ---
//
//   posted --a message--> matched --data in place--> finished                       eager
//                            |
//                            +--pulled--> queued (NOTIFY) --> unacked --> finished  large
//
// --- A connect, and a send to this endpoint itself ---
//
//   connecting --reply, refusal, time-out--> finished
//   self_waiting --a receive--> finished
enum class Phase : std::uint8_t {
  queued,        // send: waits for window or resources, without a number
  unacked,       // send or notify: has a number, in tx.unacked of the peer
  await_notify,  // large send: acknowledged, the receiver has not finished
  connecting,    // connect: in tx.connects of the peer
  self_waiting,  // send to this endpoint itself: in the unexpected queue
  posted,        // receive: in the posted tables
  matched,       // receive: a message is arriving for it
  finished       // nothing more to do for the protocol
};

// The longest message whose copy lies in its request.
inline constexpr std::size_t kNearMost = 128;

// State that only a send needs. A NOTIFY is a send, too, and uses some of it.
struct RequestTx {
  bool synchronous = false;
  bool buffered = false;     // user memory no longer needed
  bool sacked = false;       // unacked, but the receiver holds it
  bool by_bulk = false;      // medium send: most of it went by the bulk path
  bool by_gso = false;       // ... in a GSO frame
  bool bulk_noted = false;   // counted among the messages by the bulk path
  bool lost = false;         // a later message passed it, and it was not sent again since
  bool announced = false;    // large send: among larges_out of the peer
  bool unscheduled = false;  // large send: unscheduled data went with it, and it is not notified yet
  bool notified = false;     // large send: the receiver has finished, the ack is still missing
  bool delivered = false;    // completes only when acknowledged
  bool confirmed = false;    // ... because its peer was silent for a second (see SendOp)
  bool copy_later = false;   // see SendAdvice
  bool parked = false;       // eager send: its receiver has no room for the data (parked.cc)
  bool waits = false;        // ... acknowledged; its copy, if any, waits for the receive
  bool asks_ack = false;     // its receiver acknowledges it at once
  std::uint8_t frames = 0;   // on the wire when unacked
  // A repetition that is spread over time (repetition_spread()): its fragments, how many of them have left,
  // and how many such repetitions there were.
  std::uint8_t spread = 0, spread_sent = 0, spreads = 0;
  std::uint32_t buffer_size = 0;
  std::byte* buffer = nullptr;            // copy of a buffered send's data
  std::array<std::byte, kNearMost> near;  // ... of a short message; nothing has to be taken for it
  TimeNs passed_at = 0;  // when a later message was known to have arrived first; 0: not so far
};

// State that only a receive needs.
struct RequestRx {
  std::uint64_t match_mask = 0;
  const Peer* source = nullptr;           // the only peer it takes messages from, if any
  std::uint64_t order = 0;                // order of posting
  Pull* pull = nullptr;                   // running pull
  MultiReceive* multi_receive = nullptr;  // the multi-receive buffer that it belongs to
  std::uint32_t notify_length = 0;        // length that its NOTIFY carries
  bool reach = false;                     // see ReceiveOp
  bool leave = false;                     // its NOTIFY allows unscheduled data with the next message
  bool released = false;                  // last message of a multi-receive buffer
};

struct Request {
  explicit Request(RequestKind k, const State* h = nullptr) : home(h), kind(k) {}

  // The engine that owns the request. This member is first, where a freed slot holds something else (see
  // request_held()).
  const State* home;
  RequestKind kind;
  SendClass send_class = SendClass::tiny;
  Phase phase = Phase::finished;
  Status status = Status::pending;
  bool user_done = false;  // completion visible or consumed
  bool user_gone = false;  // consumed, forgotten or cancelled
  bool hidden = false;     // only done() sees it; no other call may find and consume it
  bool has_data = false;
  std::uint8_t message_class = 0;
  std::uint8_t connect_seqnum = 0;
  std::uint8_t region = 0;  // large send: region id and generation (docs/spec/wire.md 4.4)
  std::uint8_t region_generation = 0;
  std::uint16_t region_page = 0;
  Seqnum seqnum = 0;
  std::uint16_t resends = 0;
  std::uint32_t session = 0xFFFFFFFF;  // completion: session of the remote endpoint
  std::uint32_t conversation = 0;      // completion: with the remote endpoint
  std::uint32_t shunned = 0xFFFFFFFF;  // connect, receive: see ReceiveOp

  Peer* peer = nullptr;
  std::uint64_t match_info = 0;
  void* context = nullptr;
  std::uint64_t data = 0;
  std::uint32_t msg_length = 0;
  std::uint32_t xfer_length = 0;
  std::uint32_t key = 0;      // connect
  std::uint32_t charged = 0;  // send: bytes in the eager window of its peer (eager_window.h)

  SegmentList segments;
  RequestTx tx;
  RequestRx rx;

  TimeNs first_sent = 0;
  TimeNs last_sent = 0;
  TimeNs timeout = kNever;

  // Returns whether fragments of the present repetition have still to leave.
  bool spreading() const { return tx.spread_sent < tx.spread; }
  // Returns whether the message can travel only with a header extension (docs/reference/wire.md 7).
  bool needs_ext() const { return has_data || message_class != 0; }

  ListHook queue;         // unacked, await_notify, queued or connects of the peer
  ListHook done;          // completion queue
  ListHook done_context;  // completion queue of its context id
  ListHook match;         // bucket of a posted table

  std::uint64_t position = 0;  // send: where its bytes are among all of that window
};

}  // namespace omx::protocol
