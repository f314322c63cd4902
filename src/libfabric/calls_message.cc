// SPDX-License-Identifier: BSD-3-Clause
#include "libfabric/calls_message.h"

#include "libfabric/capabilities.h"
#include "libfabric/endpoint.h"
#include "libfabric/message_call.h"
#include "libfabric/transfers.h"

namespace omx::fabric {

namespace {

ssize_t submit(fid_ep* ep, const ReceiveCall& call) {
  return endpoint_of(ep).transfers().receive(call);
}

ssize_t submit(fid_ep* ep, const SendCall& call) {
  return endpoint_of(ep).transfers().send(call);
}

SendCall send_call(fid_ep* ep, std::span<const iovec> pieces, fi_addr_t to, void* context) {
  SendCall call;
  call.pieces = pieces;
  call.to = to;
  call.message_class = kClassUntagged;
  call.flags = endpoint_of(ep).choices.transmit_flags;
  call.context = context;
  return call;
}

// Returns a call whose memory is free at once, and which has no completion.
SendCall inject_call(const iovec& piece, fi_addr_t to) {
  SendCall call;
  call.pieces = {&piece, 1};
  call.to = to;
  call.message_class = kClassUntagged;
  call.flags = FI_INJECT;
  call.has_context = false;
  return call;
}

SendCall with_data(SendCall call, std::uint64_t data) {
  call.flags |= FI_REMOTE_CQ_DATA;
  call.data = data;
  return call;
}

ssize_t receive_vector(fid_ep* ep, const iovec* pieces, void**, std::size_t count, fi_addr_t from,
                       void* context) {
  ReceiveCall call;
  call.message_class = kClassUntagged;
  call.ignore = ~std::uint64_t{0};  // there is no tag
  call.pieces = {pieces, count};
  call.from = from;
  call.flags = endpoint_of(ep).choices.receive_flags;
  call.context = context;
  return submit(ep, call);
}

ssize_t receive(fid_ep* ep, void* memory, std::size_t length, void*, fi_addr_t from, void* context) {
  const iovec piece{memory, length};
  return receive_vector(ep, &piece, nullptr, 1, from, context);
}

ssize_t receive_message(fid_ep* ep, const fi_msg* message, std::uint64_t flags) {
  if (flags & ~kReceiveFlags) return -FI_EBADFLAGS;
  ReceiveCall call;
  call.message_class = kClassUntagged;
  call.ignore = ~std::uint64_t{0};  // there is no tag
  call.pieces = {message->msg_iov, message->msg_iov ? message->iov_count : 0};
  call.from = message->addr;
  call.flags = flags;
  call.context = message->context;
  return submit(ep, call);
}

ssize_t send_vector(fid_ep* ep, const iovec* pieces, void**, std::size_t count, fi_addr_t to, void* context) {
  return submit(ep, send_call(ep, {pieces, count}, to, context));
}

ssize_t send(fid_ep* ep, const void* memory, std::size_t length, void*, fi_addr_t to, void* context) {
  const iovec piece{const_cast<void*>(memory), length};
  return send_vector(ep, &piece, nullptr, 1, to, context);
}

ssize_t send_message(fid_ep* ep, const fi_msg* message, std::uint64_t flags) {
  if (flags & ~kTransmitFlags) return -FI_EBADFLAGS;
  const std::size_t count = message->msg_iov ? message->iov_count : 0;
  SendCall call = send_call(ep, {message->msg_iov, count}, message->addr, message->context);
  call.flags = flags;
  call.data = message->data;
  return submit(ep, call);
}

ssize_t send_data(fid_ep* ep, const void* memory, std::size_t length, void*, std::uint64_t data, fi_addr_t to,
                  void* context) {
  const iovec piece{const_cast<void*>(memory), length};
  return submit(ep, with_data(send_call(ep, {&piece, 1}, to, context), data));
}

ssize_t inject(fid_ep* ep, const void* memory, std::size_t length, fi_addr_t to) {
  const iovec piece{const_cast<void*>(memory), length};
  return submit(ep, inject_call(piece, to));
}

ssize_t inject_data(fid_ep* ep, const void* memory, std::size_t length, std::uint64_t data, fi_addr_t to) {
  const iovec piece{const_cast<void*>(memory), length};
  return submit(ep, with_data(inject_call(piece, to), data));
}

}  // namespace

const fi_ops_msg kMessageCalls = {
    sizeof(fi_ops_msg), receive,      receive_vector, receive_message, send,
    send_vector,        send_message, inject,         send_data,       inject_data,
};

}  // namespace omx::fabric
