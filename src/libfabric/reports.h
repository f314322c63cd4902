// SPDX-License-Identifier: BSD-3-Clause
// What the application gets to see: entries of completion queues, and counts.
#pragma once

#include <cstdint>

#include "libfabric/endpoint.h"
#include "libfabric/operation.h"
#include "libfabric/peers.h"
#include "protocol/types.h"

namespace omx::fabric {

// Guarded by the endpoint's lock. Nothing is reported while the endpoint closes.
class Reports {
 public:
  Reports(Endpoint& endpoint, const Peers& peers) : endpoint_(endpoint), peers_(peers) {}

  // Reports the end of a send or an access. `error` is libfabric's code, 0 for success. May throw when there
  // is no memory for an entry.
  void sent(const Operation& op, int error, int provider_error);
  // Reports a message that a receive took, or the end of a receive. May throw as sent().
  void received(const Operation& op, const protocol::Completion& c);
  // Reports a short send that was complete when it was handed over, and did not arrive. Does not throw.
  void lost(const protocol::LostMessage& lost);
  // Reports an access to the application's memory, if the application asked for that. May throw as sent().
  void accessed(const Operation& op);

 private:
  Endpoint& endpoint_;
  const Peers& peers_;
};

}  // namespace omx::fabric
