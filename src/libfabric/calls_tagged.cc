// SPDX-License-Identifier: BSD-3-Clause
#include "libfabric/calls_tagged.h"

#include "libfabric/capabilities.h"
#include "libfabric/endpoint.h"
#include "libfabric/message_call.h"
#include "libfabric/peeks.h"
#include "libfabric/transfers.h"

namespace omx::fabric {

namespace {

constexpr std::uint64_t kPeekFlags = FI_PEEK | FI_CLAIM | FI_DISCARD;

ssize_t submit(fid_ep* ep, const ReceiveCall& call) {
  if (call.flags & FI_PEEK) return endpoint_of(ep).peeks().peek(call);
  if (call.flags & FI_CLAIM) return endpoint_of(ep).peeks().receive_claimed(call);
  return endpoint_of(ep).transfers().receive(call);
}

ssize_t submit(fid_ep* ep, const SendCall& call) {
  return endpoint_of(ep).transfers().send(call);
}

SendCall send_call(fid_ep* ep, std::span<const iovec> pieces, fi_addr_t to, std::uint64_t tag,
                   void* context) {
  SendCall call;
  call.pieces = pieces;
  call.to = to;
  call.tag = tag;
  call.flags = endpoint_of(ep).choices.transmit_flags;
  call.context = context;
  return call;
}

// Returns a call whose memory is free at once, and which has no completion.
SendCall inject_call(const iovec& piece, fi_addr_t to, std::uint64_t tag) {
  SendCall call;
  call.pieces = {&piece, 1};
  call.to = to;
  call.tag = tag;
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
                       std::uint64_t tag, std::uint64_t ignore, void* context) {
  ReceiveCall call;
  call.pieces = {pieces, count};
  call.from = from;
  call.tag = tag;
  call.ignore = ignore;
  call.flags = endpoint_of(ep).choices.receive_flags & ~FI_MULTI_RECV;
  call.context = context;
  return submit(ep, call);
}

ssize_t receive(fid_ep* ep, void* memory, std::size_t length, void*, fi_addr_t from, std::uint64_t tag,
                std::uint64_t ignore, void* context) {
  const iovec piece{memory, length};
  return receive_vector(ep, &piece, nullptr, 1, from, tag, ignore, context);
}

ssize_t receive_message(fid_ep* ep, const fi_msg_tagged* message, std::uint64_t flags) {
  if (flags & ~(FI_COMPLETION | FI_MORE | kPeekFlags)) return -FI_EBADFLAGS;
  if ((flags & kPeekFlags) == FI_DISCARD) return -FI_EBADFLAGS;  // there is nothing to discard
  ReceiveCall call;
  call.pieces = {message->msg_iov, message->msg_iov ? message->iov_count : 0};
  call.from = message->addr;
  call.tag = message->tag;
  call.ignore = message->ignore;
  call.flags = flags;
  call.context = message->context;
  return submit(ep, call);
}

ssize_t send_vector(fid_ep* ep, const iovec* pieces, void**, std::size_t count, fi_addr_t to,
                    std::uint64_t tag, void* context) {
  return submit(ep, send_call(ep, {pieces, count}, to, tag, context));
}

ssize_t send(fid_ep* ep, const void* memory, std::size_t length, void*, fi_addr_t to, std::uint64_t tag,
             void* context) {
  const iovec piece{const_cast<void*>(memory), length};
  return send_vector(ep, &piece, nullptr, 1, to, tag, context);
}

ssize_t send_message(fid_ep* ep, const fi_msg_tagged* message, std::uint64_t flags) {
  if (flags & ~kTransmitFlags) return -FI_EBADFLAGS;
  const std::size_t count = message->msg_iov ? message->iov_count : 0;
  SendCall call = send_call(ep, {message->msg_iov, count}, message->addr, message->tag, message->context);
  call.flags = flags;
  call.data = message->data;
  return submit(ep, call);
}

ssize_t send_data(fid_ep* ep, const void* memory, std::size_t length, void*, std::uint64_t data, fi_addr_t to,
                  std::uint64_t tag, void* context) {
  const iovec piece{const_cast<void*>(memory), length};
  return submit(ep, with_data(send_call(ep, {&piece, 1}, to, tag, context), data));
}

ssize_t inject(fid_ep* ep, const void* memory, std::size_t length, fi_addr_t to, std::uint64_t tag) {
  const iovec piece{const_cast<void*>(memory), length};
  return submit(ep, inject_call(piece, to, tag));
}

ssize_t inject_data(fid_ep* ep, const void* memory, std::size_t length, std::uint64_t data, fi_addr_t to,
                    std::uint64_t tag) {
  const iovec piece{const_cast<void*>(memory), length};
  return submit(ep, with_data(inject_call(piece, to, tag), data));
}

}  // namespace

const fi_ops_tagged kTaggedCalls = {
    sizeof(fi_ops_tagged), receive,      receive_vector, receive_message, send,
    send_vector,           send_message, inject,         send_data,       inject_data,
};

}  // namespace omx::fabric
