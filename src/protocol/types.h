// SPDX-License-Identifier: BSD-3-Clause
// Types for what an application asks of the engine and gets back.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/mac.h"
#include "base/time.h"
#include "protocol/types.h"

namespace omx::protocol {

using omx::kNever;
// Returns the time `wait` after `from`, or kNever if that overflows.
inline TimeNs time_add(TimeNs from, TimeNs wait) {
  return wait >= kNever - from ? kNever : from + wait;
}
using omx::TimeNs;  // passed by the caller
inline constexpr TimeNs kMillisecond = 1'000'000;

// How a request ended. The values are MX status codes (docs/spec/mx-api.md 1.2).
enum class Status : std::uint8_t {
  success = 0,
  pending = 1,
  rejected = 3,  // this cannot be sent to the peer
  timeout = 4,
  truncated = 5,
  cancelled = 6,
  endpoint_closed = 8,
  endpoint_unreachable = 9,
  bad_session = 10,
  bad_key = 11,
  bad_endpoint = 12,
  bad_rdma_window = 13,
  aborted = 14,
  no_resources = 16,
};

enum class RequestKind : std::uint8_t { send, receive, connect };

// A piece of user memory.
struct Segment {
  std::byte* base = nullptr;
  std::uint32_t length = 0;
};
inline constexpr std::size_t kMaxSegments = 256;

// The memory that a large send offers.
struct RegionMemory {
  std::uint16_t place = 0;  // of the region among all of the endpoint; its low 8 bits are its number
  std::span<const Segment> pieces;
};

struct Peer;        // a remote endpoint; lives until the endpoint is closed
struct Request;     // opaque to callers
struct Unexpected;  // opaque to callers

// Hints from the caller of the engine, which knows more of its program than the program asked for.
struct SendAdvice {
  // More sends follow at once. A short message may wait to share its frame with them, until
  // Endpoint::release() or progress() at the latest.
  bool hold = false;
  // The announcement of a large message with others before it may wait too, although no sends follow.
  bool hold_announcement = false;
  // A longer message may wait with its completion for Endpoint::copy_make(), which makes the copy that it
  // would be sent again from. If the message is acknowledged before, no copy is needed.
  bool copy_later = false;
};

struct SendOp {
  Peer* peer = nullptr;
  // The session in the address that the application used; kUnknownSession skips the check. An outdated
  // session completes the request with bad_session (docs/spec/mx-clients.md 5).
  std::uint32_t session = 0xFFFFFFFF;
  // The conversation in which the application got that address; 0 skips the check. If it is over, the request
  // completes with the reason of its end (docs/reference/contract.md).
  std::uint32_t conversation = 0;
  std::span<const Segment> segments;  // copied; at most kMaxSegments, total length below 4 GiB
  std::uint64_t match_info = 0;
  void* context = nullptr;
  bool synchronous = false;  // completes only when matched by the receiver
  bool forgotten = false;    // no completion wanted
  bool delivered = false;    // completes only when the receiver has acknowledged it
  bool confirmed = false;    // delivered only towards a peer that was not heard for a second
  // The memory may be reused when the call returns. The send is refused (no_resources) while too much waits
  // for acknowledgements.
  bool inject = false;
  SendAdvice advice = {};
  // With a class or data, the send ends as rejected if the peer cannot receive them: it is not extended, or
  // MX frames are used.
  std::uint8_t message_class = 0;
  bool has_data = false;
  std::uint64_t data = 0;  // remote completion data
};

// Returns whether an address with session `named` means another instance than the one with `session`. An
// unknown session may be any.
inline bool names_another(std::uint32_t named, std::uint32_t session) {
  constexpr std::uint32_t kUnknown = 0xFFFFFFFF;
  return named != kUnknown && session != kUnknown && named != session;
}

struct ReceiveOp {
  std::span<const Segment> segments;
  std::uint64_t match_info = 0;
  std::uint64_t match_mask = ~std::uint64_t{0};
  const Peer* source = nullptr;  // nullptr: from any peer
  void* context = nullptr;
  bool forgotten = false;
  std::uint8_t message_class = 0;
  std::uint32_t session = 0xFFFFFFFF;  // of the source, if only that instance is meant
  // The source owes this message, so the engine watches the source. The receive fails when the source is
  // given up.
  bool awaited = false;
  // Whether the engine connects to the source while it is not connected.
  bool reach = false;
  // The engine never connects to this instance, because its conversation with the application is over.
  std::uint32_t shunned = 0xFFFFFFFF;
  // Not pending: the source was given up. The receive takes a message that has arrived from the source, or
  // else ends with this status.
  Status source_gone = Status::pending;
  // Not 0: a multi-receive buffer (multi_receives.cc). The memory (one segment) takes one message behind the
  // other, each with its own completion, until less than this is left.
  std::uint32_t multi_receive_least = 0;
};

// The report of a finished request.
struct Completion {
  RequestKind kind = RequestKind::send;
  Status status = Status::pending;
  Peer* peer = nullptr;  // receive: sender; send: destination; connect: the peer
  std::uint32_t session = 0xFFFFFFFF;
  std::uint32_t conversation = 0;  // with the peer, to which the request belonged
  std::uint64_t match_info = 0;
  std::uint32_t msg_length = 0;
  std::uint32_t xfer_length = 0;
  void* context = nullptr;
  bool has_data = false;
  std::uint8_t message_class = 0;
  std::uint64_t data = 0;
  std::byte* place = nullptr;  // receive into a multi-receive buffer: where the message begins
  bool released = false;       // ... and that this was its last message
};

// An unexpected message that probe found or the unexpected handler gets.
struct Arrival {
  Peer* peer = nullptr;
  std::uint32_t session = 0xFFFFFFFF;
  std::uint32_t conversation = 0;
  std::uint64_t match_info = 0;
  std::uint32_t msg_length = 0;
  const std::byte* data = nullptr;  // handler only: the whole message when it is in one frame
  bool whole = true;                // probe only, like the rest: false while the message is still arriving
  bool has_data = false;
  std::uint64_t remote_data = 0;
};

enum class HandlerAction { proceed, finished };
using UnexpectedHandler = HandlerAction (*)(void* context, const Arrival& arrival);

// An event of a peer that is to be reported (Endpoint::news_take).
struct PeerNews {
  enum class Kind : std::uint8_t {
    silent,      // owes us something and was not heard for kSilenceTold
    back,        // is heard again
    ended,       // the conversation is over: see status, why
    no_batches,  // datagrams arrive, but those that the NIC cuts from a GSO batch do not (UDP segmentation)
    unreached,   // receives or probes waited for the peer, but the connect failed: see status
  };
  // Why a conversation ended.
  enum class Why : std::uint8_t {
    given_up,   // by us: silent for longer than the time-out
    abandoned,  // by the peer: it gave us up or disconnected
    refused,    // the peer's endpoint is closed, or another program opened it
    restarted,  // another instance took the peer's place
    disconnected,
  };
  Kind kind = Kind::silent;
  Why why = Why::given_up;
  Status status = Status::success;
  Peer* peer = nullptr;
  std::uint32_t session = 0xFFFFFFFF;  // of the peer, in that conversation
  std::uint32_t failed = 0;            // operations that failed
  std::uint32_t lost = 0;              // messages that were complete for the sender but not acknowledged
  TimeNs silence = 0;                  // since the peer was heard
  TimeNs patience = 0;                 // silent: the time of silence after which the peer is given up
};

// Why a conversation with a peer ends.
using Cleanup = PeerNews::Why;

// A message that was complete for its sender and then failed (Endpoint::lost_take).
struct LostMessage {
  Peer* peer = nullptr;
  Status status = Status::endpoint_unreachable;
  std::uint64_t match_info = 0;
  std::uint32_t length = 0;
  std::uint8_t message_class = 0;
};

// The data of a frame that should come next, and where they belong.
struct ExpectedFrame {
  std::byte* place = nullptr;
  std::uint32_t length = 0;
  std::uint32_t header = 0;  // bytes before the data
  std::uint32_t index = 0;   // of the frame in the pull or message
  std::uint32_t handle = 0;  // of the pull
  // The sender of a medium message, and the receive or unexpected message that takes the data.
  Peer* sender = nullptr;
  const void* message = nullptr;
};

// A bound that keeps something waiting.
struct HeldUp {
  enum class What : std::uint8_t {
    nothing,
    data,       // of messages that arrive before their receives
    envelopes,  // messages without data that arrive before their receives
    copies      // sent messages that wait for their receives
  };
  What what = What::nothing;
  Peer* peer = nullptr;
  std::uint64_t bound = 0;  // bytes
};

// Why an operation was refused at once. Values are MX return codes (docs/spec/mx-api.md 1.1).
enum class OpError : std::uint8_t {
  none = 0,
  bad_segment_count = 12,
  bad_request = 13,
  bad_match_mask = 14,
  no_resources = 15,
  bad_endpoint_id = 32,
  context_id_mask = 42,
};

}  // namespace omx::protocol
