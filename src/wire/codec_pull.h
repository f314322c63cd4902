// SPDX-License-Identifier: BSD-3-Clause
// PULL, PULL_REPLY and NOTIFY: the packets of a large transfer after its rendezvous.
// wire/codec.h describes what encode_* and decode_* functions have in common.
#pragma once

#include <cstddef>

#include "wire/packets.h"

namespace omx::wire {

std::size_t encode_pull(std::byte* out, const Head& head, Mode mode, const Pull& packet);
Drop decode_pull(Frame frame, Mode mode, bool extended, Pull& packet);

// Encodes a PULL_REPLY. {src_endpoint, flags} takes the place of head.peer_index.
std::size_t encode_pull_reply(std::byte* out, const Head& head, const PullReply& packet);
Drop decode_pull_reply(Frame frame, bool extended, PullReply& packet, const std::byte** data);

std::size_t encode_notify(std::byte* out, const Head& head, const Notify& packet);
Drop decode_notify(Frame frame, bool extended, Notify& packet);

}  // namespace omx::wire
