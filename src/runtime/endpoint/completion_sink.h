// SPDX-License-Identifier: BSD-3-Clause
// How a user of an endpoint learns of completions if it keeps its own records beside the engine, as a
// libfabric provider does.
#pragma once

#include "protocol/endpoint.h"

namespace omx::runtime {

// Called by whichever thread makes progress, the progress thread included.
class CompletionSink {
 public:
  virtual ~CompletionSink() = default;
  // Requests are done (peek_done). The lock is held. The function may call the engine. Requests that this
  // completes are reported by the same call or the next. It must not throw.
  virtual void completed(protocol::Endpoint& engine, protocol::TimeNs now) = 0;
  // A conversation has ended. Called before the operations that failed with it are completed. The lock is
  // held. The function must not throw.
  virtual void conversation_ended(const protocol::PeerNews&) {}
  // The peer could not be connected to, so nothing waits for its messages any more. Likewise.
  virtual void peer_unreached(const protocol::PeerNews&) {}
  // A message failed that was reported as complete. Likewise.
  virtual void message_lost(const protocol::LostMessage&) {}
};

}  // namespace omx::runtime
