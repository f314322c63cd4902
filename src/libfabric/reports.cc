// SPDX-License-Identifier: BSD-3-Clause
#include "libfabric/reports.h"

#include <dlfcn.h>
#include <link.h>

#include <cassert>
#include <cstring>
#include <exception>

#include "libfabric/completion_queue.h"
#include "libfabric/counter.h"
#include "libfabric/memory_regions.h"
#include "libfabric/provider.h"
#include "libfabric/status.h"

namespace omx::fabric {

using protocol::Status;

namespace {

// Returns whether the application can take an error completion without a context. Open MPI (mtl/ofi up
// to 5.0) takes each context for one of its requests, and crashes. Its next operation with that peer fails
// all the same.
bool nameless_errors() {
  static const bool open_mpi = [] {
    bool found = ::dlsym(RTLD_DEFAULT, "ompi_mpi_comm_world") != nullptr;
    // The library may have been loaded without making its names public, as Python's modules do.
    const auto search = [](dl_phdr_info* info, std::size_t, void* out) {
      if (info->dlpi_name && std::strstr(info->dlpi_name, "libopen-pal")) *static_cast<bool*>(out) = true;
      return 0;
    };
    ::dl_iterate_phdr(search, &found);
    return found;
  }();
  return !open_mpi;
}

Bindings::CounterIndex counter_of(std::uint64_t flags) {
  return flags & FI_READ    ? Bindings::kCountRead
         : flags & FI_WRITE ? Bindings::kCountWrite
                            : Bindings::kCountSend;
}

}  // namespace

void Reports::sent(const Operation& op, int error, int provider_error) {
  assert(op.kind == OperationKind::send || op.kind == OperationKind::access);
  if (endpoint_.closing()) return;
  endpoint_.bindings.count(counter_of(op.flags), error != 0);
  // Operations without a context (inject) are reported only when they fail.
  const bool told = error ? op.wanted || op.context || nameless_errors() : op.wanted;
  CompletionQueue* const queue = endpoint_.bindings.transmit().queue;
  if (!queue || !told) return;
  Entry entry;
  entry.good.op_context = error && !op.context ? endpoint_.fid.context : op.context;  // fi_endpoint(3)
  entry.good.flags = op.flags;
  entry.good.tag = op.tag;
  entry.error = error;
  entry.provider_error = provider_error;
  queue->push(entry);
}

void Reports::received(const Operation& op, const protocol::Completion& c) {
  assert(op.kind == OperationKind::receive);
  if (endpoint_.closing()) return;
  Entry entry;
  entry.good.op_context = op.context;
  entry.good.flags = op.flags | (c.has_data ? FI_REMOTE_CQ_DATA : 0);
  entry.good.len = c.xfer_length;
  entry.good.buf = op.several ? c.place : op.memory;
  entry.good.data = c.data;
  entry.good.tag = c.peer ? c.match_info : op.tag;
  const bool last = op.several && c.released;
  if (last) entry.good.flags |= FI_MULTI_RECV;
  const Status status = op.discards && c.status == Status::truncated ? Status::success : c.status;
  entry.error = error_of(status);
  entry.provider_error = static_cast<int>(status);
  entry.missing = c.msg_length - c.xfer_length;
  const std::uint64_t caps = endpoint_.choices.caps;
  if (!entry.error && (caps & (FI_SOURCE | FI_SOURCE_ERR))) {
    entry.source = peers_.source_of(c.peer, c.session, c.conversation);
    if (entry.source == FI_ADDR_NOTAVAIL && (caps & FI_SOURCE_ERR)) {
      const protocol::PeerInfo from = protocol::peer_info(c.peer);
      entry.unknown = {from.nic, from.endpoint, c.session};
      entry.error = FI_EADDRNOTAVAIL;
    }
  }
  endpoint_.bindings.count(Bindings::kCountReceive, entry.error != 0);
  // The last message in a multi-receive buffer gives the buffer back, so it is always reported.
  CompletionQueue* const queue = endpoint_.bindings.receive().queue;
  if (queue && (entry.error || op.wanted || last)) queue->push(entry);
}

void Reports::lost(const protocol::LostMessage& lost) {
  const bool ours = lost.message_class == kClassTagged || lost.message_class == kClassUntagged;
  if (endpoint_.closing() || !ours) return;
  endpoint_.bindings.count(Bindings::kCountSend, true);
  CompletionQueue* const queue = endpoint_.bindings.transmit().queue;
  if (!queue || !nameless_errors()) return;
  Entry entry;
  entry.good.op_context = endpoint_.fid.context;
  entry.good.flags = FI_SEND | kind_flag(static_cast<MessageClass>(lost.message_class));
  entry.good.tag = lost.match_info;
  entry.good.len = lost.length;
  entry.error = error_of(lost.status);
  entry.provider_error = static_cast<int>(lost.status);
  try {
    queue->push(entry);
  } catch (const std::exception& e) {
    warn(FI_LOG_CQ, e.what());
  }
}

void Reports::accessed(const Operation& op) {
  assert(op.kind == OperationKind::service_part);
  const bool written = op.flags & FI_REMOTE_WRITE;
  endpoint_.bindings.count(written ? Bindings::kCountRemoteWrite : Bindings::kCountRemoteRead, false);
  for (const MemoryRegion* region : op.regions)
    if (written && region->counter) region->counter->add(1);
  CompletionQueue* const queue = endpoint_.bindings.receive().queue;
  if (!op.has_remote_data || !queue || endpoint_.closing()) return;
  Entry entry;
  entry.good.flags = op.flags | FI_REMOTE_CQ_DATA;
  entry.good.len = op.bytes;
  entry.good.data = op.remote_data;
  if (endpoint_.choices.caps & FI_SOURCE) {
    const protocol::PeerInfo from = protocol::peer_info(op.peer);
    entry.source = peers_.source_of(op.peer, from.session, from.conversation);
  }
  queue->push(entry);
}

}  // namespace omx::fabric
