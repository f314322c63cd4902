// SPDX-License-Identifier: BSD-3-Clause
// What a user of an endpoint is told of completions, who keeps books of its own beside the engine (a
// libfabric provider).
#pragma once

#include "protocol/endpoint.h"

namespace omx::runtime {

// Is told by whichever thread makes progress, the progress thread included.
class CompletionSink {
 public:
  virtual ~CompletionSink() = default;
  // Requests are done (peek_done), the lock is held. May call the engine; what that completes is seen by the
  // same call or the next. Must not throw.
  virtual void completed(protocol::Endpoint& engine, protocol::TimeNs now) = 0;
  // A conversation has ended, before what failed with it is completed. The lock is held. Must not throw.
  virtual void conversation_ended(const protocol::PeerNews&) {}
  // What waited for a peer's messages ends, as the peer could not be connected to. Likewise.
  virtual void peer_unreached(const protocol::PeerNews&) {}
  // A message failed that was reported as complete. Likewise.
  virtual void message_lost(const protocol::LostMessage&) {}
};

}  // namespace omx::runtime
