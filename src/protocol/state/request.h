// SPDX-License-Identifier: BSD-3-Clause
// One operation of the application. A request has two lives: for the user (pending, done, gone) and for the
// protocol (until acknowledged); it is freed when both are over. A send that is done for the user but not yet
// acknowledged is a "zombie" (docs/spec/protocol.md 11).
#pragma once

#include "base/list.h"
#include "protocol/state/segments.h"
#include "protocol/state/seqnum.h"
#include "protocol/types.h"

namespace omx::protocol {

struct MultiReceive;
struct Partner;
struct Pull;
struct State;
struct Unexpected;

// How a send travels, and what a receive puts on the wire at its end.
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
// A medium message that is parked goes on as a large one while it is unacked (park.cc). For the user a send
// may be done earlier: with its copy, or never if it was forgotten.
//
// --- A receive ---
//
//   posted --a message--> matched --data in place--> finished                       eager
//                            |
//                            +--pulled--> queued (NOTIFY) --> unacked --> finished  large
//
// --- A connect, and a send to oneself ---
//
//   connecting --reply, refusal, time-out--> finished
//   self_waiting --a receive--> finished
enum class Phase : std::uint8_t {
  queued,        // send: waits for window or resources, without a number
  unacked,       // send or notify: has a number, in partner.unacked
  await_notify,  // large send: acknowledged, the receiver has not finished
  connecting,    // connect: in partner.connects
  self_waiting,  // send to oneself: in the unexpected queue
  posted,        // receive: in the posted tables
  matched,       // receive: a message is arriving for it
  finished       // nothing more to do for the protocol
};

// What only a send needs. A NOTIFY is one, too: it uses some of this.
struct RequestTx {
  bool synchronous = false;
  bool buffered = false;    // user memory no longer needed
  bool sacked = false;      // unacked, but the receiver holds it
  bool by_lane = false;     // medium send: most of it went by the bulk path (UDP lane)
  bool lost = false;        // passed, and not sent again since then
  bool announced = false;   // large send: among larges_out of the peer
  bool unasked = false;     // large send: its first frames went with it, and it is not notified
  bool notified = false;    // large send: the receiver has finished, the ack is still missing
  bool delivered = false;   // completes only when acknowledged
  bool confirmed = false;   // ... as its peer was silent for a second (see SendOp)
  bool copy_later = false;  // see SendAdvice
  bool parked = false;      // eager send: its receiver has no room for the data (parked.cc)
  bool waits = false;       // ... acknowledged; its copy, if any, waits for the receive
  std::uint8_t frames = 0;  // on the wire when unacked
  std::uint32_t buffer_size = 0;
  std::byte* buffer = nullptr;  // copy of a buffered send's data
  TimeNs passed_at = 0;         // when a later one was known to be there first; 0: not so far
};

// What only a receive needs.
struct RequestRx {
  std::uint64_t match_mask = 0;
  const Partner* source = nullptr;  // only from it
  std::uint64_t order = 0;          // of posting
  Pull* pull = nullptr;             // running
  MultiReceive* multi = nullptr;    // shares memory with others
  std::uint32_t notify_length = 0;  // what its NOTIFY says
  bool reach = false;               // see ReceiveOp
  bool leave = false;               // what its NOTIFY says of the next one's
  bool released = false;            // the last message of a memory for several
};

struct Request {
  explicit Request(RequestKind k, const State* h = nullptr) : home(h), kind(k) {}

  // Whose it is. First, where a freed one holds something else: see request_held().
  const State* home;
  RequestKind kind;
  SendClass send_class = SendClass::tiny;
  Phase phase = Phase::finished;
  Status status = Status::pending;
  bool user_done = false;  // completion visible or consumed
  bool user_gone = false;  // consumed, forgotten or cancelled
  bool hidden = false;     // only done() sees it: nobody else may find and consume it
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

  Partner* partner = nullptr;
  std::uint64_t match_info = 0;
  void* context = nullptr;
  std::uint64_t data = 0;
  std::uint32_t msg_length = 0;
  std::uint32_t xfer_length = 0;
  std::uint32_t key = 0;  // connect

  SegmentList segments;
  RequestTx tx;
  RequestRx rx;

  TimeNs first_sent = 0;
  TimeNs last_sent = 0;
  TimeNs timeout = kNever;

  // Whether it can travel only with a header extension (docs/reference/wire.md 7).
  bool needs_ext() const { return has_data || message_class != 0; }

  ListHook queue;         // unacked, await_notify, queued or connects of the peer
  ListHook done;          // completion queue
  ListHook done_context;  // the same, of its context id
  ListHook match;         // bucket of a posted table
};

}  // namespace omx::protocol
