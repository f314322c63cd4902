// SPDX-License-Identifier: BSD-3-Clause
// fi_tsend and fi_trecv in all their forms.
#include "libfabric/endpoint.h"
#include "libfabric/info.h"
#include "libfabric/provider.h"

namespace omx::fabric {

namespace {

constexpr std::uint64_t kPeekFlags = FI_PEEK | FI_CLAIM | FI_DISCARD;

ssize_t receive_any(fid_ep* ep, const ReceiveCall& call) {
  return fenced([&]() -> ssize_t {
    if (call.flags & FI_PEEK) return endpoint_of(ep).peek(call);
    if (call.flags & FI_CLAIM) return endpoint_of(ep).receive_claimed(call);
    return endpoint_of(ep).receive(call);
  });
}

ssize_t send_any(fid_ep* ep, const SendCall& call) {
  return fenced([&] { return endpoint_of(ep).send(call); });
}

ssize_t receive_vector(fid_ep* ep, const iovec* pieces, void**, std::size_t count, fi_addr_t from,
                       std::uint64_t tag, std::uint64_t ignore, void* context) {
  ReceiveCall call;
  call.pieces = {pieces, count};
  call.from = from;
  call.tag = tag;
  call.ignore = ignore;
  call.flags = endpoint_of(ep).receive_flags() & ~FI_MULTI_RECV;
  call.context = context;
  return receive_any(ep, call);
}

ssize_t receive(fid_ep* ep, void* memory, std::size_t length, void*, fi_addr_t from, std::uint64_t tag,
                std::uint64_t ignore, void* context) {
  const iovec piece{memory, length};
  return receive_vector(ep, &piece, nullptr, 1, from, tag, ignore, context);
}

ssize_t receive_message(fid_ep* ep, const fi_msg_tagged* message, std::uint64_t flags) {
  if (flags & ~(FI_COMPLETION | FI_MORE | kPeekFlags)) return -FI_EBADFLAGS;
  if ((flags & kPeekFlags) == FI_DISCARD) return -FI_EBADFLAGS;  // of what?
  ReceiveCall call;
  call.pieces = {message->msg_iov, message->msg_iov ? message->iov_count : 0};
  call.from = message->addr;
  call.tag = message->tag;
  call.ignore = message->ignore;
  call.flags = flags;
  call.context = message->context;
  return receive_any(ep, call);
}

SendCall call_of(fid_ep* ep, const iovec* pieces, std::size_t count, fi_addr_t to, std::uint64_t tag,
                 void* context) {
  SendCall call;
  call.pieces = {pieces, count};
  call.to = to;
  call.tag = tag;
  call.flags = endpoint_of(ep).transmit_flags();
  call.context = context;
  return call;
}

ssize_t send_vector(fid_ep* ep, const iovec* pieces, void**, std::size_t count, fi_addr_t to,
                    std::uint64_t tag, void* context) {
  return send_any(ep, call_of(ep, pieces, count, to, tag, context));
}

ssize_t send(fid_ep* ep, const void* memory, std::size_t length, void*, fi_addr_t to, std::uint64_t tag,
             void* context) {
  const iovec piece{const_cast<void*>(memory), length};
  return send_vector(ep, &piece, nullptr, 1, to, tag, context);
}

ssize_t send_message(fid_ep* ep, const fi_msg_tagged* message, std::uint64_t flags) {
  if (flags & ~kTransmitFlags) return -FI_EBADFLAGS;
  const std::size_t count = message->msg_iov ? message->iov_count : 0;
  SendCall call = call_of(ep, message->msg_iov, count, message->addr, message->tag, message->context);
  call.flags = flags;
  call.data = message->data;
  return send_any(ep, call);
}

ssize_t send_data(fid_ep* ep, const void* memory, std::size_t length, void*, std::uint64_t data, fi_addr_t to,
                  std::uint64_t tag, void* context) {
  const iovec piece{const_cast<void*>(memory), length};
  SendCall call = call_of(ep, &piece, 1, to, tag, context);
  call.flags |= FI_REMOTE_CQ_DATA;
  call.data = data;
  return send_any(ep, call);
}

SendCall injected(const iovec& piece, fi_addr_t to, std::uint64_t tag) {
  SendCall call;
  call.pieces = {&piece, 1};
  call.to = to;
  call.tag = tag;
  call.flags = FI_INJECT;
  call.has_context = false;
  return call;
}

ssize_t inject(fid_ep* ep, const void* memory, std::size_t length, fi_addr_t to, std::uint64_t tag) {
  const iovec piece{const_cast<void*>(memory), length};
  return send_any(ep, injected(piece, to, tag));
}

ssize_t inject_data(fid_ep* ep, const void* memory, std::size_t length, std::uint64_t data, fi_addr_t to,
                    std::uint64_t tag) {
  const iovec piece{const_cast<void*>(memory), length};
  SendCall call = injected(piece, to, tag);
  call.flags |= FI_REMOTE_CQ_DATA;
  call.data = data;
  return send_any(ep, call);
}

}  // namespace

const fi_ops_tagged kTaggedCalls = {
    sizeof(fi_ops_tagged), receive,      receive_vector, receive_message, send,
    send_vector,           send_message, inject,         send_data,       inject_data,
};

}  // namespace omx::fabric
