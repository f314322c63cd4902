// SPDX-License-Identifier: BSD-3-Clause
// Messages to the user about peers that could not be connected to.
#pragma once

#include <unordered_set>

#include "protocol/types.h"

namespace omx::fabric {

class Endpoint;

// Guarded by the endpoint's lock.
class Unreached {
 public:
  explicit Unreached(Endpoint& endpoint) : endpoint_(endpoint) {}

  // Says why there is no connection: in libfabric's log, and once for each peer on stderr. An operation that
  // waited for the connection may have no request to fail, or an error that says little. `ended`: a
  // conversation with the endpoint at that address has ended. `patience`: how long the connect waited. Does
  // not throw.
  void tell(const protocol::Peer* peer, protocol::Status status, bool ended, protocol::TimeNs patience);
  // Forgets what was said about the peer, because it is connected.
  void forget(const protocol::Peer* peer) { told_.erase(peer); }

  // Returns the time that a connect of this provider waits for an answer.
  static protocol::TimeNs connect_patience();

 private:
  Endpoint& endpoint_;
  std::unordered_set<const protocol::Peer*> told_;
};

}  // namespace omx::fabric
