// SPDX-License-Identifier: BSD-3-Clause
// HOST_QUERY, HOST_REPLY and the discovery broadcast: packets between hosts rather than endpoints.
// wire/codec.h describes what encode_* and decode_* functions have in common.
#pragma once

#include <cstddef>
#include <cstdint>

#include "wire/packets.h"

namespace omx::wire {

std::size_t encode_host_query(std::byte* out, const Head& head, const HostQuery& packet);
Drop decode_host_query(Frame frame, HostQuery& packet);

// Writes the name too: packet.name, name_length bytes with NUL, 1 to kHostnameMax.
std::size_t encode_host_reply(std::byte* out, const Head& head, const HostReply& packet);
Drop decode_host_reply(Frame frame, HostReply& packet);

// Writes the 64-byte broadcast of the MX discovery daemons (docs/spec/wire.md 4.13). `out` needs 64 bytes.
std::size_t encode_discovery(std::byte* out, NicId self, std::uint32_t serial);
// Returns bad_type when the RAW frame is something else.
Drop decode_discovery(Frame frame, NicId& nic, std::uint32_t& serial);

}  // namespace omx::wire
