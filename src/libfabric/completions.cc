// SPDX-License-Identifier: BSD-3-Clause
// What the engine finished becomes entries and counts. Runs in whatever thread makes progress.
#include <dlfcn.h>
#include <link.h>

#include <cstring>
#include <exception>

#include "libfabric/endpoint.h"
#include "libfabric/provider.h"

namespace omx::fabric {

using protocol::Status;

int error_of(Status status) {
  switch (status) {
    case Status::success:
      return 0;
    case Status::truncated:
      return FI_ETRUNC;
    case Status::cancelled:
    case Status::aborted:
      return FI_ECANCELED;
    case Status::timeout:
      return FI_ETIMEDOUT;
    case Status::endpoint_unreachable:
      return FI_EHOSTUNREACH;
    case Status::bad_session:
    case Status::endpoint_closed:
    case Status::bad_endpoint:
      return FI_ECONNRESET;
    case Status::bad_key:
      return FI_ECONNREFUSED;
    case Status::rejected:
      return FI_EOPNOTSUPP;
    case Status::no_resources:
      return FI_ENOMEM;
    default:
      return FI_EIO;
  }
}

void Endpoint::completed(Engine& engine, protocol::TimeNs now) {
  while (protocol::Request* request = engine.peek_done()) {
    const protocol::Completion c = engine.consume(request);
    auto* op = static_cast<Operation*>(c.context);
    try {
      finish(engine, now, *op, c);
    } catch (const std::exception& e) {  // no memory for an entry: nothing else can be lost here
      warn(FI_LOG_CQ, e.what());
    }
  }
}

void Endpoint::finish(Engine& engine, protocol::TimeNs now, Operation& op, const protocol::Completion& c) {
  switch (op.kind) {
    case OperationKind::connect:
      peer_connected(engine, now, op, c);
      break;
    case OperationKind::receive:
      finish_receive(op, c);
      if (op.several && !c.released) return;  // takes more
      break;
    case OperationKind::send: {
      if (op.counted) sends_--;
      // How much the receiver took is the receiver's business.
      const Status status = c.status == Status::truncated ? Status::success : c.status;
      report(op, error_of(status), static_cast<int>(status));
      break;
    }
    case OperationKind::access:
    case OperationKind::access_part:
      return access_finish(engine, op, c);
    case OperationKind::service:
    case OperationKind::service_part:
    case OperationKind::service_answer:
      return finish_service(engine, now, op, c);
  }
  operation_free(op);
}

void Endpoint::finish_service(Engine& engine, protocol::TimeNs now, Operation& op,
                              const protocol::Completion& c) {
  if (op.kind == OperationKind::service) return service_received(engine, now, op, c);
  if (op.kind == OperationKind::service_part) {
    const bool whole = c.status == protocol::Status::success && c.xfer_length == op.bytes;
    return service_written(engine, now, op, op.error ? op.error : whole ? 0 : FI_EIO);
  }
  service_release(op);
  operation_free(op);
}

fi_addr_t Endpoint::source_of(const protocol::Partner* partner, std::uint32_t session,
                              std::uint32_t conversation) {
  const protocol::PartnerInfo from = protocol::partner_info(partner);
  // Numbers from before the last conversation ended are good for what came in it, not for the present one.
  const auto ended = ended_.empty() ? ended_.end() : ended_.find(partner);
  const bool present = conversation == from.conversation;
  return addresses_->find({from.nic, from.endpoint, session},
                          ended != ended_.end() && present ? ended->second.next_generation : 0);
}

void Endpoint::finish_receive(Operation& op, const protocol::Completion& c) {
  if (closing_) return;
  Entry entry;
  entry.good.op_context = op.context;
  entry.good.flags = op.flags | (c.has_data ? FI_REMOTE_CQ_DATA : 0);
  entry.good.len = c.xfer_length;
  entry.good.buf = op.several ? c.place : op.memory;
  entry.good.data = c.data;
  entry.good.tag = c.partner ? c.match_info : op.tag;
  const bool last = op.several && c.released;
  if (last) entry.good.flags |= FI_MULTI_RECV;
  const Status status = op.discards && c.status == Status::truncated ? Status::success : c.status;
  entry.error = error_of(status);
  entry.provider_error = static_cast<int>(status);
  entry.missing = c.msg_length - c.xfer_length;
  if (!entry.error && (caps_ & (FI_SOURCE | FI_SOURCE_ERR))) {
    entry.source = source_of(c.partner, c.session, c.conversation);
    if (entry.source == FI_ADDR_NOTAVAIL && (caps_ & FI_SOURCE_ERR)) {
      const protocol::PartnerInfo from = protocol::partner_info(c.partner);
      entry.unknown = {from.nic, from.endpoint, c.session};
      entry.error = FI_EADDRNOTAVAIL;
    }
  }
  if (Counter* counter = counters_[kCountReceive]) entry.error ? counter->add_error(1) : counter->add(1);
  // The last message of a memory for several gives it back: that must be told.
  if (receive_queue_ && (entry.error || op.wanted || last)) receive_queue_->push(entry);
}

namespace {

// Whether the application can take an error completion without a context. Open MPI (mtl/ofi up to 5.0) takes
// each context for one of its requests, and crashes. Its next operation with that peer fails all the same.
bool nameless_errors() {
  static const bool open_mpi = [] {
    bool found = ::dlsym(RTLD_DEFAULT, "ompi_mpi_comm_world") != nullptr;
    // It may have been loaded without making its names public, as by Python's modules.
    const auto look = [](dl_phdr_info* info, std::size_t, void* out) {
      if (info->dlpi_name && std::strstr(info->dlpi_name, "libopen-pal")) *static_cast<bool*>(out) = true;
      return 0;
    };
    ::dl_iterate_phdr(look, &found);
    return found;
  }();
  return !open_mpi;
}

}  // namespace

// A short send that was complete when it was handed over, and did not arrive.
void Endpoint::message_lost(const protocol::LostMessage& lost) {
  if (closing_ || (lost.message_class != kClassTagged && lost.message_class != kClassUntagged)) return;
  if (Counter* counter = counters_[kCountSend]) counter->add_error(1);
  if (!transmit_queue_ || !nameless_errors()) return;
  Entry entry;
  entry.good.op_context = fid.context;
  entry.good.flags = FI_SEND | kind_flag(static_cast<MessageClass>(lost.message_class));
  entry.good.tag = lost.match_info;
  entry.good.len = lost.length;
  entry.error = error_of(lost.status);
  entry.provider_error = static_cast<int>(lost.status);
  try {
    transmit_queue_->push(entry);
  } catch (const std::exception& e) {
    warn(FI_LOG_CQ, e.what());
  }
}

void Endpoint::report(Operation& op, int error, int provider_error) {
  if (closing_) return;
  const CounterIndex kind = op.flags & FI_READ ? kCountRead : op.flags & FI_WRITE ? kCountWrite : kCountSend;
  if (Counter* counter = counters_[kind]) error ? counter->add_error(1) : counter->add(1);
  // Operations without a context (inject) are reported only when they fail.
  const bool told = error ? op.wanted || op.context || nameless_errors() : op.wanted;
  if (!transmit_queue_ || !told) return;
  Entry entry;
  entry.good.op_context = error && !op.context ? fid.context : op.context;  // fi_endpoint(3)
  entry.good.flags = op.flags;
  entry.good.tag = op.tag;
  entry.error = error;
  entry.provider_error = provider_error;
  transmit_queue_->push(entry);
}

}  // namespace omx::fabric
