// SPDX-License-Identifier: BSD-3-Clause
// PULL, PULL_REPLY and NOTIFY: the packets of a large transfer after its rendezvous.
// How encode_* and decode_* work is said in wire/codec.h.
#pragma once

#include <cstddef>

#include "wire/packets.h"

namespace omx::wire {

std::size_t encode_pull(std::byte* out, const Head& head, Mode mode, const Pull& packet);
Drop decode_pull(Frame frame, Mode mode, bool extended, Pull& packet);

// PULL_REPLY: head.peer_index is written as {0, flags} when flags are set, else as given. An extended
// receiver takes the low byte for flags, so give peer_index 0 to extended peers.
std::size_t encode_pull_reply(std::byte* out, const Head& head, const PullReply& packet);
Drop decode_pull_reply(Frame frame, bool extended, PullReply& packet, const std::byte** data);

std::size_t encode_notify(std::byte* out, const Head& head, const Notify& packet);
Drop decode_notify(Frame frame, bool extended, Notify& packet);

}  // namespace omx::wire
