// SPDX-License-Identifier: BSD-3-Clause
// An endpoint with all its parts, from fi_endpoint() to fi_close(). It opens and closes the endpoint of the
// runtime, and hands what the engine finished to the part that began it.
#pragma once

#include "libfabric/endpoint.h"
#include "libfabric/memory_service.h"
#include "libfabric/operation.h"
#include "libfabric/peeks.h"
#include "libfabric/peers.h"
#include "libfabric/remote_memory.h"
#include "libfabric/reports.h"
#include "libfabric/transfers.h"
#include "runtime/endpoint/engine_access.h"

namespace omx::fabric {

class LiveEndpoint final : public Endpoint, public runtime::CompletionSink, private WaitingMessages {
 public:
  LiveEndpoint(Domain& domain, const fi_info& info);

  int enable() override;
  void close() override;
  void revoke(MemoryRegion& region, bool late) override;

  // Called by the thread that makes progress, with the endpoint's lock held.
  void completed(protocol::Endpoint& engine, protocol::TimeNs now) override;
  void conversation_ended(const protocol::PeerNews& news) override { peers_.conversation_ended(news); }
  void peer_unreached(const protocol::PeerNews& news) override { peers_.unreached(news); }
  void message_lost(const protocol::LostMessage& lost) override { reports_.lost(lost); }

 private:
  bool still_wanted(protocol::Endpoint& engine, protocol::TimeNs now, Operation& op,
                    protocol::Peer* to) override;
  void unsent(protocol::Endpoint& engine, protocol::TimeNs now, Operation& op,
              protocol::Status status) override;
  void finish(protocol::Endpoint& engine, protocol::TimeNs now, Operation& op, const protocol::Completion& c);
  void connections_await();
  void operations_drop();

  Peers peers_;
  Reports reports_;
  Transfers transfers_part_;
  Peeks peeks_part_;
  RemoteMemory remote_memory_part_;
  MemoryService service_;
};

}  // namespace omx::fabric
