// SPDX-License-Identifier: BSD-3-Clause
// fi_send and fi_recv in all their forms.
#include "libfabric/calls.h"
#include "libfabric/info.h"

namespace omx::fabric {

namespace {

ssize_t receive_any(fid_ep* ep, const ReceiveCall& call) {
  return fenced([&] { return endpoint_of(ep).receive(call); });
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

ssize_t send_vector(fid_ep* ep, const iovec* pieces, void**, std::size_t count, fi_addr_t to, void* context) {
  return send_any(ep, send_call(ep, {pieces, count}, to, kClassUntagged, 0, context));
}

ssize_t send(fid_ep* ep, const void* memory, std::size_t length, void*, fi_addr_t to, void* context) {
  const iovec piece{const_cast<void*>(memory), length};
  return send_vector(ep, &piece, nullptr, 1, to, context);
}

ssize_t send_message(fid_ep* ep, const fi_msg* message, std::uint64_t flags) {
  if (flags & ~kTransmitFlags) return -FI_EBADFLAGS;
  const std::size_t count = message->msg_iov ? message->iov_count : 0;
  SendCall call =
      send_call(ep, {message->msg_iov, count}, message->addr, kClassUntagged, 0, message->context);
  call.flags = flags;
  call.data = message->data;
  return send_any(ep, call);
}

ssize_t send_data(fid_ep* ep, const void* memory, std::size_t length, void*, std::uint64_t data, fi_addr_t to,
                  void* context) {
  const iovec piece{const_cast<void*>(memory), length};
  return send_any(ep, with_data(send_call(ep, {&piece, 1}, to, kClassUntagged, 0, context), data));
}

ssize_t inject(fid_ep* ep, const void* memory, std::size_t length, fi_addr_t to) {
  const iovec piece{const_cast<void*>(memory), length};
  return send_any(ep, inject_call(piece, to, kClassUntagged, 0));
}

ssize_t inject_data(fid_ep* ep, const void* memory, std::size_t length, std::uint64_t data, fi_addr_t to) {
  const iovec piece{const_cast<void*>(memory), length};
  return send_any(ep, with_data(inject_call(piece, to, kClassUntagged, 0), data));
}

}  // namespace

const fi_ops_msg kMessageCalls = {
    sizeof(fi_ops_msg), receive,      receive_vector, receive_message, send,
    send_vector,        send_message, inject,         send_data,       inject_data,
};

}  // namespace omx::fabric
