// SPDX-License-Identifier: BSD-3-Clause
// fi_send and fi_recv in all their forms.
#include "libfabric/endpoint.h"
#include "libfabric/info.h"
#include "libfabric/provider.h"

namespace omx::fabric {

namespace {

ssize_t receive_any(fid_ep* ep, const ReceiveCall& call) {
  return fenced([&] { return endpoint_of(ep).receive(call); });
}

ssize_t send_any(fid_ep* ep, const SendCall& call) {
  return fenced([&] { return endpoint_of(ep).send(call); });
}

ssize_t receive_vector(fid_ep* ep, const iovec* pieces, void**, std::size_t count, fi_addr_t from,
                       void* context) {
  ReceiveCall call;
  call.message_class = kClassUntagged;
  call.ignore = ~std::uint64_t{0};  // there is no tag
  call.pieces = {pieces, count};
  call.from = from;
  call.flags = endpoint_of(ep).receive_flags();
  call.context = context;
  return receive_any(ep, call);
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
  return receive_any(ep, call);
}

SendCall call_of(fid_ep* ep, const iovec* pieces, std::size_t count, fi_addr_t to, void* context) {
  SendCall call;
  call.message_class = kClassUntagged;
  call.pieces = {pieces, count};
  call.to = to;
  call.flags = endpoint_of(ep).transmit_flags();
  call.context = context;
  return call;
}

ssize_t send_vector(fid_ep* ep, const iovec* pieces, void**, std::size_t count, fi_addr_t to, void* context) {
  return send_any(ep, call_of(ep, pieces, count, to, context));
}

ssize_t send(fid_ep* ep, const void* memory, std::size_t length, void*, fi_addr_t to, void* context) {
  const iovec piece{const_cast<void*>(memory), length};
  return send_vector(ep, &piece, nullptr, 1, to, context);
}

ssize_t send_message(fid_ep* ep, const fi_msg* message, std::uint64_t flags) {
  if (flags & ~kTransmitFlags) return -FI_EBADFLAGS;
  const std::size_t count = message->msg_iov ? message->iov_count : 0;
  SendCall call = call_of(ep, message->msg_iov, count, message->addr, message->context);
  call.flags = flags;
  call.data = message->data;
  return send_any(ep, call);
}

ssize_t send_data(fid_ep* ep, const void* memory, std::size_t length, void*, std::uint64_t data, fi_addr_t to,
                  void* context) {
  const iovec piece{const_cast<void*>(memory), length};
  SendCall call = call_of(ep, &piece, 1, to, context);
  call.flags |= FI_REMOTE_CQ_DATA;
  call.data = data;
  return send_any(ep, call);
}

SendCall injected(const iovec& piece, fi_addr_t to) {
  SendCall call;
  call.message_class = kClassUntagged;
  call.pieces = {&piece, 1};
  call.to = to;
  call.flags = FI_INJECT;
  call.has_context = false;
  return call;
}

ssize_t inject(fid_ep* ep, const void* memory, std::size_t length, fi_addr_t to) {
  const iovec piece{const_cast<void*>(memory), length};
  return send_any(ep, injected(piece, to));
}

ssize_t inject_data(fid_ep* ep, const void* memory, std::size_t length, std::uint64_t data, fi_addr_t to) {
  const iovec piece{const_cast<void*>(memory), length};
  SendCall call = injected(piece, to);
  call.flags |= FI_REMOTE_CQ_DATA;
  call.data = data;
  return send_any(ep, call);
}

}  // namespace

const fi_ops_msg kMessageCalls = {
    sizeof(fi_ops_msg), receive,      receive_vector, receive_message, send,
    send_vector,        send_message, inject,         send_data,       inject_data,
};

}  // namespace omx::fabric
