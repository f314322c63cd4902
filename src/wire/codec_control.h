// SPDX-License-Identifier: BSD-3-Clause
// TRUC, the two NACKs and PROBE: packets about the conversation, without user data.
// wire/codec.h describes what encode_* and decode_* functions have in common.
#pragma once

#include <cstddef>

#include "wire/packets.h"

namespace omx::wire {

std::size_t encode_truc(std::byte* out, const Head& head, const Truc& packet);
Drop decode_truc(Frame frame, bool extended, Truc& packet);

std::size_t encode_nack_lib(std::byte* out, const Head& head, const NackLib& packet);
Drop decode_nack_lib(Frame frame, bool extended, NackLib& packet);

std::size_t encode_nack_mcp(std::byte* out, const Head& head, const NackMcp& packet);
Drop decode_nack_mcp(Frame frame, bool extended, NackMcp& packet);

std::size_t encode_probe(std::byte* out, const Head& head, const Probe& packet);
Drop decode_probe(Frame frame, Probe& packet);

}  // namespace omx::wire
