// SPDX-License-Identifier: BSD-3-Clause
// Looking at a message before it is received: FI_PEEK, FI_CLAIM, FI_DISCARD. The completion queue tells what
// was found, and also that nothing was found (docs/spec/libfabric.md 2.5, 6.2).
#pragma once

#include <unordered_map>

#include "libfabric/endpoint.h"
#include "libfabric/message_call.h"
#include "libfabric/peers.h"
#include "libfabric/transfers.h"

namespace omx::fabric {

class Peeks {
 public:
  Peeks(Endpoint& endpoint, const Peers& peers, Transfers& transfers)
      : endpoint_(endpoint), peers_(peers), transfers_(transfers) {}

  // Answer calls of the application: 0 or a negative error code. They take the endpoint's lock, and no
  // exception passes them. receive_claimed() finds the message by the context that it was claimed with,
  // whatever else the call says.
  ssize_t peek(const ReceiveCall& call) noexcept;
  ssize_t receive_claimed(const ReceiveCall& call) noexcept;
  // Discards all messages that are claimed. The lock is held.
  void discard_all(protocol::Endpoint& engine, protocol::TimeNs now);

 private:
  Endpoint& endpoint_;
  const Peers& peers_;
  Transfers& transfers_;
  std::unordered_map<void*, protocol::Unexpected*> claimed_;  // by context
};

}  // namespace omx::fabric
