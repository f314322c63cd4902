// SPDX-License-Identifier: BSD-3-Clause
// Memory of peers, the side that asks. An access consists of messages: a request, the data of a long write,
// and an answer, for which a receive waits. As with any message, they are ordered, repeated when lost,
// pulled when large, and copied once inside a host. The operation ends when its last part has ended.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "libfabric/access_call.h"
#include "libfabric/endpoint.h"
#include "libfabric/operation.h"
#include "libfabric/peers.h"
#include "libfabric/reports.h"
#include "protocol/types.h"

namespace omx::fabric {

class RemoteMemory {
 public:
  RemoteMemory(Endpoint& endpoint, Peers& peers, Reports& reports)
      : endpoint_(endpoint), peers_(peers), reports_(reports) {}

  // Answer calls of the application: 0 or a negative error code. They take the endpoint's lock, and no
  // exception passes them. The application's memory is used until the completion.
  ssize_t access(const RmaCall& call) noexcept;
  ssize_t access(const AtomicCall& call) noexcept;

  // Returns whether a part that waited for the connection to `to` is to be sent. Posts the receive of the
  // answer before the first part. The lock is held.
  bool still_wanted(protocol::Endpoint& engine, protocol::TimeNs now, Operation& part, protocol::Peer* to);
  // Takes the end of the answer's receive (kind access) or of a part, and frees it. Reports the operation
  // when it was the last. The lock is held.
  void finished(protocol::Endpoint& engine, Operation& op, const protocol::Completion& c);

 private:
  Operation* begin(runtime::EngineAccess& direct, const AccessCall& call, std::uint64_t flags, int& error);
  int start(runtime::EngineAccess& direct, Operation& op, fi_addr_t peer,
            std::span<const protocol::Segment> result, std::vector<std::byte> request,
            std::span<const protocol::Segment> data);
  int answer_await(runtime::EngineAccess& direct, Operation& op, fi_addr_t peer,
                   std::span<const protocol::Segment> result);
  int answer_post(protocol::Endpoint& engine, protocol::TimeNs now, Operation& op, protocol::Peer* from);
  int part_send(runtime::EngineAccess& direct, Operation& owner, fi_addr_t peer, std::vector<std::byte> own,
                std::span<const protocol::Segment> segments, MessageClass message_class);
  void part_failed(protocol::Endpoint& engine, Operation& owner, int error);
  void undo(runtime::EngineAccess& direct, Operation& op);

  Endpoint& endpoint_;
  Peers& peers_;
  Reports& reports_;
  std::uint64_t next_id_ = 0;  // of accesses
};

}  // namespace omx::fabric
