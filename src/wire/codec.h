// SPDX-License-Identifier: BSD-3-Clause
// Packets to bytes and back. No allocation, no I/O, no state.
//
// encode_*: writes the whole frame header from byte 0 (Ethernet header, peer index, body), zeros in every pad
// byte, and returns the number of bytes written: data follow there. The buffer must have room for
// kHeaderCapacity bytes. Packets with kFlagHeaderExt in flags get the extension written behind the header.
//
// decode_*: `frame` is a whole frame from byte 0. Checks the type, that the frame holds the header and all
// data it announces (and the CRC trailer's room when flags say so *and* `extended`), and every length field's
// range. Flags and extension fields are read only when `extended` (the sender exchanged extension blocks with
// us), else they are reported as 0. On success *data points at the payload inside the frame.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "wire/codec_connect.h"
#include "wire/codec_control.h"
#include "wire/codec_host.h"
#include "wire/codec_message.h"
#include "wire/codec_pull.h"
#include "wire/packets.h"

namespace omx::wire {

// Reads the 16-byte head and the type. frame_too_short if the frame has fewer than 17 bytes; bad_type for
// another ethertype. Types that are reserved or unknown are returned as they are.
Drop decode_head(Frame frame, Head& head);

// The endpoint a frame is for: B1 for endpoint packets, B9 of NACK_LIB, magic XOR for PULL_REPLY and
// NACK_MCP; -1 for HOST_*, RAW and unknown types. `frame` must have at least 32 bytes.
int destination_endpoint(Frame frame);

// The number that a refusal of the frame repeats: of a message or NOTIFY; nullopt for all others and short
// ones.
std::optional<std::uint16_t> message_number(Frame frame);

// The flags byte of a frame, 0 for types without one (CONNECT, HOST_*, RAW). Means something only when the
// sender exchanged extension blocks with us. `frame` must have at least 32 bytes.
std::uint8_t frame_flags(Frame frame);

// Bytes of a frame from F0 that its length fields account for (headers, extension and data; without padding
// and CRC trailer), or 0 when the frame is malformed. Where the CRC trailer starts. For frames of extended
// peers: the flags byte is believed. What fills a PROBE up to its size is padding: the trailer lies behind
// its header.
std::size_t covered_length(Frame frame, Mode mode);

// CRC-32C trailer over frame bytes [12, covered): the MAC addresses are left out because the hardware or a
// bridge may rewrite nothing else. verify: true when the trailer is present and right.
bool checksum_verify(Frame frame, Mode mode);

}  // namespace omx::wire
