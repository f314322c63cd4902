// SPDX-License-Identifier: BSD-3-Clause
// Memory of peers, the side that is asked. Requests come to receives of our own. The thread that makes
// progress serves them, in the order in which they were sent. The application takes no part.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "libfabric/endpoint.h"
#include "libfabric/memory_regions.h"
#include "libfabric/memory_request.h"
#include "libfabric/operation.h"
#include "libfabric/reports.h"
#include "protocol/types.h"

namespace omx::fabric {

// The endpoint's lock is held in all functions.
class MemoryService {
 public:
  MemoryService(Endpoint& endpoint, Reports& reports) : endpoint_(endpoint), reports_(reports) {}

  // Posts the receives that requests come to. Returns false if there is no memory.
  bool start(protocol::Endpoint& engine, protocol::TimeNs now);
  // Takes the end of an operation of the kinds service, service_part and service_answer, and frees it when it
  // is over.
  void finished(protocol::Endpoint& engine, protocol::TimeNs now, Operation& op,
                const protocol::Completion& c);
  // Gives back the regions that the operation holds.
  void release(Operation& op);
  // As DrivenEndpoint::revoke.
  void revoke(protocol::Endpoint& engine, protocol::TimeNs now, MemoryRegion& region, bool late);

 private:
  bool post(protocol::Endpoint& engine, protocol::TimeNs now, Operation& op);
  void received(protocol::Endpoint& engine, protocol::TimeNs now, Operation& op,
                const protocol::Completion& c);
  bool hold(const MemoryRequest& request, Operation& op, std::vector<protocol::Segment>& segments);
  void run(protocol::Endpoint& engine, protocol::TimeNs now, protocol::Peer* from,
           const MemoryRequest& request, std::span<const std::byte> payload);
  void data_await(protocol::Endpoint& engine, protocol::TimeNs now, Operation& op, bool allowed,
                  std::span<const protocol::Segment> segments);
  void write(protocol::Endpoint& engine, protocol::TimeNs now, Operation& op,
             std::span<const protocol::Segment> segments, std::span<const std::byte> payload);
  void read(protocol::Endpoint& engine, protocol::TimeNs now, Operation& op,
            std::span<const protocol::Segment> segments);
  void change(protocol::Endpoint& engine, protocol::TimeNs now, Operation& op, const MemoryRequest& request,
              std::span<const protocol::Segment> segments, std::span<const std::byte> payload);
  void written(protocol::Endpoint& engine, protocol::TimeNs now, Operation& op, int error);
  void answer(protocol::Endpoint& engine, protocol::TimeNs now, Operation& op, int error,
              std::span<const std::byte> copy, std::span<const protocol::Segment> segments);

  Endpoint& endpoint_;
  Reports& reports_;
};

}  // namespace omx::fabric
