// SPDX-License-Identifier: BSD-3-Clause
#include "libfabric/live_endpoint.h"

#include <fmt/format.h>
#include <sched.h>

#include <cassert>
#include <exception>

#include "libfabric/decline.h"
#include "libfabric/domain.h"
#include "libfabric/provider.h"
#include "libfabric/status.h"

namespace omx::fabric {

using Engine = protocol::Endpoint;
using protocol::Status;
using protocol::TimeNs;
using runtime::EngineAccess;

namespace {

int open_error(int mx_code) {
  constexpr int kMxNoPermission = 7, kMxNoResources = 15, kMxBusy = 20;
  switch (mx_code) {
    case kMxNoPermission:
      return -FI_EACCES;
    case kMxNoResources:
      return -FI_ENOMEM;
    case kMxBusy:
      return -FI_EADDRINUSE;
    default:
      return -FI_ENODEV;
  }
}

}  // namespace

LiveEndpoint::LiveEndpoint(Domain& domain, const fi_info& info)
    : Endpoint(domain, info),
      peers_(*this, *this),
      reports_(*this, peers_),
      transfers_part_(*this, peers_, reports_),
      peeks_part_(*this, peers_, transfers_part_),
      remote_memory_part_(*this, peers_, reports_),
      service_(*this, reports_) {
  transfers_ = &transfers_part_;
  peeks_ = &peeks_part_;
  remote_memory_ = &remote_memory_part_;
}

int LiveEndpoint::enable() {
  assert(!enabled());
  if (const int error = bindings.check(choices.caps)) return error;
  runtime::OpenOptions options;
  options.mx_order = false;
  options.board = domain().board().number;
  options.key = kKey;
  options.all_boards = domain().all_boards();
  const bool chosen = choices.address.endpoint != kAnyId;
  if (chosen) options.endpoint = choices.address.endpoint;
  const auto opened = domain().process().open(options);
  if (!opened) {
    const int error = open_error(opened.error().mx_code);
    const bool taken = error == -FI_EADDRINUSE && chosen;
    decline(opened.error().message + (taken ? "; start the program with another port (a port stands for an "
                                              "endpoint), or without one"
                                            : ""),
            Caller::names_us);
    return error;
  }
  runtime_ = *opened;
  runtime::sink_set(*runtime_, this);
  bool started = false;
  {
    EngineAccess direct(*runtime_);
    started = service_.start(direct.engine(), direct.now());
  }
  domain().endpoint_add(*this);
  if (!started) return -FI_ENOMEM;
  const auto& interface = domain().board().interface;
  info(FI_LOG_EP_CTRL, fmt::format("endpoint {} on {} is {}", runtime_->id(), interface.name,
                                   address_text({interface.nic, runtime_->id(), 0})));
  return 0;
}

void LiveEndpoint::close() {
  if (!enabled()) return;
  domain().endpoint_remove(*this);
  while (waiting().load(std::memory_order_acquire) > 0) {
    runtime_->wakeup();
    ::sched_yield();
  }
  if (runtime_->foreign()) return operations_drop();  // the endpoint is the parent process's
  connections_await();
  {
    EngineAccess direct(*runtime_);
    closing_ = true;  // from now on nothing is reported
    peers_.abort_waiting(direct.engine(), direct.now());
    peeks_part_.discard_all(direct.engine(), direct.now());
  }
  runtime_->end_background();
  domain().process().close(runtime_);  // lingers until what was sent is acknowledged, or no peer answers
  runtime_ = nullptr;
  operations_drop();
}

// Frees all operations that are left. The engine must not know them any more.
void LiveEndpoint::operations_drop() {
  while (Operation* op = operation_first()) {
    service_.release(*op);
    operation_free(*op);
  }
}

// Waits for connections, because what was injected shall arrive even if the peer has not answered yet.
void LiveEndpoint::connections_await() {
  const auto none_waiting = [](void* peers) { return static_cast<const Peers*>(peers)->none_waiting(); };
  runtime::wait_until(*runtime_, none_waiting, &peers_, domain().process().settings().close_linger_ms);
}

void LiveEndpoint::revoke(MemoryRegion& region, bool late) {
  if (runtime_endpoint().foreign()) return;
  EngineAccess direct(*runtime_);
  service_.revoke(direct.engine(), direct.now(), region, late);
}

void LiveEndpoint::completed(Engine& engine, TimeNs now) {
  while (protocol::Request* request = engine.peek_done()) {
    const protocol::Completion c = engine.consume(request);
    auto* op = static_cast<Operation*>(c.context);
    assert(op);
    try {
      finish(engine, now, *op, c);
    } catch (const std::exception& e) {  // there is no memory for an entry; nothing else can be lost here
      warn(FI_LOG_CQ, e.what());
    }
  }
}

void LiveEndpoint::finish(Engine& engine, TimeNs now, Operation& op, const protocol::Completion& c) {
  switch (op.kind) {
    case OperationKind::connect:
      peers_.connected(engine, now, op, c);
      break;
    case OperationKind::receive:
      reports_.received(op, c);
      if (op.several && !c.released) return;  // the buffer takes more messages
      break;
    case OperationKind::send: {
      if (op.counted) send_ended();
      // Completions do not tell the sender how much the receiver took.
      const Status status = c.status == Status::truncated ? Status::success : c.status;
      reports_.sent(op, error_of(status), static_cast<int>(status));
      break;
    }
    case OperationKind::access:
    case OperationKind::access_part:
      return remote_memory_part_.finished(engine, op, c);
    case OperationKind::service:
    case OperationKind::service_part:
    case OperationKind::service_answer:
      return service_.finished(engine, now, op, c);
  }
  operation_free(op);
}

bool LiveEndpoint::still_wanted(Engine& engine, TimeNs now, Operation& op, protocol::Peer* to) {
  return op.kind != OperationKind::access_part || remote_memory_part_.still_wanted(engine, now, op, to);
}

void LiveEndpoint::unsent(Engine& engine, TimeNs now, Operation& op, Status status) {
  protocol::Completion failed;
  failed.status = status;
  finish(engine, now, op, failed);
}

}  // namespace omx::fabric
