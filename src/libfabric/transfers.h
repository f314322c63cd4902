// SPDX-License-Identifier: BSD-3-Clause
// Sends and receives of messages, tagged and untagged.
#pragma once

#include <span>

#include "base/list.h"
#include "libfabric/endpoint.h"
#include "libfabric/message_call.h"
#include "libfabric/operation.h"
#include "libfabric/peers.h"
#include "libfabric/reports.h"
#include "protocol/types.h"

namespace omx::fabric {

class Transfers {
 public:
  Transfers(Endpoint& endpoint, Peers& peers, Reports& reports)
      : endpoint_(endpoint), peers_(peers), reports_(reports) {}

  // Answer calls of the application: 0 or a negative error code. They take the endpoint's lock, and no
  // exception passes them. cancel() returns -FI_ENOENT for a receive that is unknown, or was matched already.
  ssize_t send(const SendCall& call) noexcept;
  ssize_t receive(const ReceiveCall& call) noexcept;
  ssize_t cancel(void* context) noexcept;

  // Fills in from whom a receive or a probe takes messages. Returns 0 or a negative error code. The lock is
  // held.
  int source_set(protocol::Endpoint& engine, fi_addr_t from, protocol::ReceiveOp& receive);
  // Lets cancel() find a receive that has been posted. The lock is held.
  void posted(Operation& op) { receives_.push_back(op); }

 private:
  ssize_t send_new(runtime::EngineAccess& direct, const SendCall& call,
                   std::span<const protocol::Segment> segments, std::size_t length);
  bool send_self(runtime::EngineAccess& direct, Operation& op, fi_addr_t to,
                 std::span<const protocol::Segment> segments, std::size_t length, protocol::SendOp send,
                 ssize_t& result);

  Endpoint& endpoint_;
  Peers& peers_;
  Reports& reports_;
  List<Operation, &Operation::hook> receives_;
};

}  // namespace omx::fabric
