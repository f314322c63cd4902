// SPDX-License-Identifier: BSD-3-Clause
// The engine under the endpoint's lock, for a user that keeps books of its own beside the engine (a libfabric
// provider). Such a user takes completions itself instead of asking for one request after the other.
#pragma once

#include "protocol/endpoint.h"
#include "runtime/endpoint/completion_sink.h"
#include "runtime/endpoint/endpoint.h"

namespace omx::runtime {

// While it lives the calling thread has the endpoint. The destructor tells the sink what was completed, sends
// what the engine wants to send and wakes waiting threads. Not to be used in a forked child
// (Endpoint::foreign).
class EngineAccess {
 public:
  explicit EngineAccess(Endpoint& endpoint);
  ~EngineAccess();
  EngineAccess(const EngineAccess&) = delete;
  EngineAccess& operator=(const EngineAccess&) = delete;

  protocol::Endpoint& engine();
  protocol::TimeNs now();  // reads the clock on first use
  // One turn, if one is due; true when frames came. Without a look at the links only timers make one due.
  bool poll(bool look = true);
  void turn();  // one turn
  // Around each send: what goes to SendOp::hold, and after it.
  bool burst_goes_on();
  bool may_hold();
  void sent();
  // Threads in wait_until look again, though the engine completed nothing.
  void signal();

 private:
  Endpoint::Impl& impl_;
  bool timed_ = false;
};

// nullptr: none any more. Before the first operation, and after the last.
void sink_set(Endpoint& endpoint, CompletionSink* sink);
// Waits until ready(context), called with the lock held, is true; Endpoint::wakeup() ends it early.
WaitOutcome wait_until(Endpoint& endpoint, bool (*ready)(void*), void* context, std::uint64_t timeout_ms);
// The calling thread goes to sleep elsewhere: the progress thread takes over at once. False: there is none.
bool hand_over(Endpoint& endpoint);

}  // namespace omx::runtime
