// SPDX-License-Identifier: BSD-3-Clause
// Gives access to the engine under the endpoint's lock. It is for a user that keeps its own records beside
// the engine (a libfabric provider). Such a user takes completions itself instead of asking for one request
// after the other.
#pragma once

#include "protocol/endpoint.h"
#include "runtime/endpoint/completion_sink.h"
#include "runtime/endpoint/endpoint.h"

namespace omx::runtime {

// Holds the endpoint's lock while it lives. The destructor reports completions to the sink, sends what the
// engine wants to send, and wakes waiting threads. Must not be used in a forked child (Endpoint::foreign).
class EngineAccess {
 public:
  explicit EngineAccess(Endpoint& endpoint);
  ~EngineAccess();
  EngineAccess(const EngineAccess&) = delete;
  EngineAccess& operator=(const EngineAccess&) = delete;

  protocol::Endpoint& engine();
  protocol::TimeNs now();  // reads the clock on first use
  // Takes one turn if one is due. Returns whether frames came. If `look` is false, links are not polled and
  // only timers make a turn due.
  bool poll(bool look = true);
  void turn();  // one turn
  // Call these functions around each send: burst_goes_on() gives SendOp::hold, and sent() follows the send.
  // `to` is the caller's name of the peer.
  bool burst_goes_on(std::uint64_t to);
  bool may_hold();
  void sent();
  // Makes threads in wait_until() check again, even if the engine completed nothing.
  void signal();

 private:
  Endpoint::Impl& impl_;
  bool timed_ = false;
};

// Sets the sink, before the first operation. Removes it with nullptr, after the last.
void sink_set(Endpoint& endpoint, CompletionSink* sink);
// Waits until ready(context), called with the lock held, is true. Endpoint::wakeup() ends the wait early.
WaitOutcome wait_until(Endpoint& endpoint, bool (*ready)(void*), void* context, std::uint64_t timeout_ms);
// Makes the progress thread take over at once, because the calling thread sleeps elsewhere. Returns false if
// there is none.
bool hand_over(Endpoint& endpoint);

}  // namespace omx::runtime
