// SPDX-License-Identifier: BSD-3-Clause
// What the calls for tagged and for untagged messages share.
#pragma once

#include "libfabric/endpoint.h"
#include "libfabric/provider.h"

namespace omx::fabric {

inline ssize_t send_any(fid_ep* ep, const SendCall& call) {
  return fenced([&] { return endpoint_of(ep).send(call); });
}

inline SendCall send_call(fid_ep* ep, std::span<const iovec> pieces, fi_addr_t to, MessageClass message_class,
                          std::uint64_t tag, void* context) {
  SendCall call;
  call.pieces = pieces;
  call.to = to;
  call.message_class = message_class;
  call.tag = tag;
  call.flags = endpoint_of(ep).transmit_flags();
  call.context = context;
  return call;
}

// Its memory is free at once, and it has no completion.
inline SendCall inject_call(const iovec& piece, fi_addr_t to, MessageClass message_class, std::uint64_t tag) {
  SendCall call;
  call.pieces = {&piece, 1};
  call.to = to;
  call.message_class = message_class;
  call.tag = tag;
  call.flags = FI_INJECT;
  call.has_context = false;
  return call;
}

inline SendCall with_data(SendCall call, std::uint64_t data) {
  call.flags |= FI_REMOTE_CQ_DATA;
  call.data = data;
  return call;
}

}  // namespace omx::fabric
