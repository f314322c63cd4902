// SPDX-License-Identifier: BSD-3-Clause
// What the engine tells its caller: what became of requests, which messages wait, and news of peers.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "base/expected.h"
#include "protocol/types.h"

namespace omx::protocol {

struct State;

class EndpointCompletions {
 public:
  // Returns whether the pointer is a request of this endpoint that was not consumed, forgotten or cancelled.
  // The memory of a request that was may serve another.
  bool held(const Request* request) const;
  bool done(const Request* request) const;
  // Returns the completion of a request that is done, and frees the request.
  Completion consume(Request* request) {
    Completion completion;
    consume(request, completion);
    return completion;
  }
  // Writes the completion into one that has its first values, which saves a copy.
  void consume(Request* request, Completion& completion);
  // Returns the oldest matching request that is done, or nullptr. Forgotten requests are never seen.
  Request* find_done(std::uint64_t match_info, std::uint64_t match_mask);
  Request* peek_done();
  void* context_of(const Request* request) const;
  RequestKind kind_of(const Request* request) const;
  // Returns whether the user's memory of a send may be reused already. bad_request for other requests and for
  // those that are not held().
  Expected<bool, OpError> buffered(const Request* request) const;
  // Notes that the application polls for messages from the source of `op` and will poll again. The engine
  // watches the source for some seconds, as if the receive were posted. Returns a status other than pending
  // if such a receive would have ended since the last poll.
  Status watch(TimeNs now, const ReceiveOp& op);
  // Returns the oldest matching unexpected message, which stays queued.
  std::optional<Arrival> probe(std::uint64_t match_info, std::uint64_t match_mask,
                               const Peer* source = nullptr, std::uint8_t message_class = 0,
                               std::uint32_t session = 0xFFFFFFFF);
  // Takes the oldest matching message out of matching, for receive_claimed or discard later. Returns nullptr
  // when there is none or the oldest is still arriving.
  Unexpected* claim(std::uint64_t match_info, std::uint64_t match_mask, const Peer* source,
                    std::uint8_t message_class, std::uint32_t session = 0xFFFFFFFF);
  // Receives a claimed message. The match fields of `op` are not used.
  Expected<Request*, OpError> receive_claimed(TimeNs now, Unexpected* message, const ReceiveOp& op);
  // Drops a claimed message; for its sender it was received. Returns false when there is no memory, and the
  // message stays claimed.
  bool discard(TimeNs now, Unexpected* message);
  // Returns whether no message has arrived that a receive posted now could find. Posting one then needs no
  // time.
  bool unexpected_empty() const;
  // Returns whether a send waits for its copy (SendAdvice::copy_later). copy_make() completes the send. Call
  // it as soon as there is nothing else to do, and before anything that ends the user's interest in the send.
  bool copy_owed() const;
  void copy_make(TimeNs now);
  // Returns the number of completions so far, which tells a waiter whether to poll again.
  std::uint64_t completion_count() const;
  // Returns whether news_take() or lost_take() has something to report.
  bool news() const;
  // Returns what happened to peers, oldest first, each event once. nullopt means no more. Call after
  // progress().
  std::optional<PeerNews> news_take();
  // Returns the messages of PeerNews::lost, each once.
  std::optional<LostMessage> lost_take();
  // Returns when the oldest connect to the peer began that has no answer; kNever if there is none.
  TimeNs silent_since(Peer* peer) const;
  // Returns the last peer that did not answer before its connect ended, once.
  Peer* silent_take();
  // Returns the first bound of each kind that kept something waiting, once.
  HeldUp held_up_take();
  // Returns the number of large or parked sends that wait for nothing but receives.
  std::uint32_t awaiting_receives() const;

 protected:
  explicit EndpointCompletions(State& state) : state_(&state) {}
  ~EndpointCompletions() = default;

 private:
  State* state_;
};

}  // namespace omx::protocol
