// SPDX-License-Identifier: BSD-3-Clause
#include "libfabric/calls_rma.h"

#include "libfabric/access_call.h"
#include "libfabric/capabilities.h"
#include "libfabric/endpoint.h"
#include "libfabric/remote_memory.h"

namespace omx::fabric {

namespace {

ssize_t access(fid_ep* ep, const RmaCall& call) {
  return endpoint_of(ep).remote_memory().access(call);
}

// Accesses one remote piece, which is as long as all local ones together.
ssize_t access_one(fid_ep* ep, RmaCall& call, std::uint64_t address, std::uint64_t key) {
  fi_rma_iov remote{address, 0, key};
  for (const iovec& piece : call.pieces) remote.len += piece.iov_len;
  call.remote = {&remote, 1};
  return access(ep, call);
}

RmaCall call_of(fid_ep* ep, bool write, std::span<const iovec> pieces, fi_addr_t peer, void* context) {
  RmaCall call;
  call.write = write;
  call.pieces = pieces;
  call.peer = peer;
  call.context = context;
  call.flags = endpoint_of(ep).choices.transmit_flags & ~FI_INJECT;
  return call;
}

ssize_t read_vector(fid_ep* ep, const iovec* pieces, void**, std::size_t count, fi_addr_t from,
                    std::uint64_t address, std::uint64_t key, void* context) {
  RmaCall call = call_of(ep, false, {pieces, count}, from, context);
  return access_one(ep, call, address, key);
}

ssize_t read(fid_ep* ep, void* memory, std::size_t length, void*, fi_addr_t from, std::uint64_t address,
             std::uint64_t key, void* context) {
  const iovec piece{memory, length};
  return read_vector(ep, &piece, nullptr, 1, from, address, key, context);
}

ssize_t message(fid_ep* ep, const fi_msg_rma* message, std::uint64_t flags, bool write) {
  if (flags & ~kTransmitFlags) return -FI_EBADFLAGS;
  const std::size_t count = message->msg_iov ? message->iov_count : 0;
  RmaCall call = call_of(ep, write, {message->msg_iov, count}, message->addr, message->context);
  call.remote = {message->rma_iov, message->rma_iov_count};
  call.flags = flags;
  call.data = message->data;
  return access(ep, call);
}

ssize_t read_message(fid_ep* ep, const fi_msg_rma* m, std::uint64_t flags) {
  return message(ep, m, flags & ~FI_INJECT, false);
}

ssize_t write_vector(fid_ep* ep, const iovec* pieces, void**, std::size_t count, fi_addr_t to,
                     std::uint64_t address, std::uint64_t key, void* context) {
  RmaCall call = call_of(ep, true, {pieces, count}, to, context);
  return access_one(ep, call, address, key);
}

ssize_t write(fid_ep* ep, const void* memory, std::size_t length, void*, fi_addr_t to, std::uint64_t address,
              std::uint64_t key, void* context) {
  const iovec piece{const_cast<void*>(memory), length};
  return write_vector(ep, &piece, nullptr, 1, to, address, key, context);
}

ssize_t write_message(fid_ep* ep, const fi_msg_rma* m, std::uint64_t flags) {
  return message(ep, m, flags, true);
}

ssize_t write_data(fid_ep* ep, const void* memory, std::size_t length, void*, std::uint64_t data,
                   fi_addr_t to, std::uint64_t address, std::uint64_t key, void* context) {
  const iovec piece{const_cast<void*>(memory), length};
  RmaCall call = call_of(ep, true, {&piece, 1}, to, context);
  call.flags |= FI_REMOTE_CQ_DATA;
  call.data = data;
  return access_one(ep, call, address, key);
}

ssize_t inject_data(fid_ep* ep, const void* memory, std::size_t length, std::uint64_t data, fi_addr_t to,
                    std::uint64_t address, std::uint64_t key) {
  const iovec piece{const_cast<void*>(memory), length};
  RmaCall call = call_of(ep, true, {&piece, 1}, to, nullptr);
  call.flags = FI_INJECT | FI_REMOTE_CQ_DATA;
  call.has_context = false;
  call.data = data;
  return access_one(ep, call, address, key);
}

ssize_t inject(fid_ep* ep, const void* memory, std::size_t length, fi_addr_t to, std::uint64_t address,
               std::uint64_t key) {
  const iovec piece{const_cast<void*>(memory), length};
  RmaCall call = call_of(ep, true, {&piece, 1}, to, nullptr);
  call.flags = FI_INJECT;
  call.has_context = false;
  return access_one(ep, call, address, key);
}

}  // namespace

const fi_ops_rma kRmaCalls = {
    sizeof(fi_ops_rma), read,          read_vector, read_message, write,
    write_vector,       write_message, inject,      write_data,   inject_data,
};

}  // namespace omx::fabric
