// SPDX-License-Identifier: BSD-3-Clause
// Packets to bytes and back. No allocation, no I/O, no state. The codec of each group of packets has its own
// header.
//
// encode_* functions write the whole frame header from byte 0 (Ethernet header, peer index, body) with zeros
// in every pad byte. They return the number of bytes written, behind which the data follow. The buffer must
// have room for kHeaderCapacity bytes. Packets with kFlagHeaderExt in `flags` get the extension written
// behind the header.
//
// decode_* functions take a whole frame from byte 0. They check its type, the range of every length field,
// and that the frame holds the header and all data that it announces. If `extended`, and the flags say so,
// the CRC trailer must fit too. `extended` means that the sender exchanged extension blocks with us.
// Otherwise flags and extension fields are not read and are returned as 0. On success *data points at the
// payload inside the frame.
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

// Reads the 16-byte head and the type. Returns frame_too_short if the frame has fewer than 17 bytes, and
// bad_type for another ethertype. Reserved and unknown types are returned as they are.
Drop decode_head(Frame frame, Head& head);

// Returns the endpoint that a frame is for: B1 of most endpoint packets, B9 of NACK_LIB, and the magic's XOR
// for PULL_REPLY and NACK_MCP. Returns -1 for HOST_*, RAW and unknown types. `frame` must have at least 32
// bytes.
int destination_endpoint(Frame frame);

// Returns the endpoint that a frame says it comes from, or -1 for HOST_*, RAW and unknown types. PULL_REPLY
// and NACK_MCP say it only if their sender has kFeatureSource. `frame` must have at least 32 bytes.
int source_endpoint(Frame frame);

// An endpoint as the sender of frames.
struct FrameSender {
  NicId nic = 0;  // 0: none
  std::uint8_t endpoint = 0;
  bool named_always = false;  // it has kFeatureSource
};
// Returns whether the frame says that it comes from this endpoint, or does not say from which one of the NIC.
// `frame` must have at least 32 bytes.
bool sent_by(Frame frame, const FrameSender& sender);

// Returns the number that a refusal of the frame repeats: that of the message or NOTIFY. Returns nullopt for
// other packets and for frames that are too short.
std::optional<std::uint16_t> message_number(Frame frame);

// Returns the flags byte of a frame, 0 for types without one (CONNECT, HOST_*, RAW). It means something only
// when the sender exchanged extension blocks with us. `frame` must have at least 32 bytes.
std::uint8_t frame_flags(Frame frame);

// Returns how many bytes from F0 on the length fields account for: headers, extension and data, without
// padding and CRC trailer. The CRC trailer starts there. Returns 0 when the frame is malformed. The flags
// byte is believed, so the sender must be an extended peer. A PROBE is padded up to its size, so its trailer
// lies behind the header.
std::size_t covered_length(Frame frame, Mode mode);

// Returns how long the frame is that begins so, if it is of a type that GSO frames have, else 0. The flags
// byte is believed, as in covered_length().
std::size_t gso_frame_bytes(Frame head);

// Returns whether the frame has a correct CRC-32C trailer over its bytes [12, covered_length()). The MAC
// addresses are left out, because the layers below may deliver them differently from how they were written
// (docs/reference/wire.md 11).
bool checksum_verify(Frame frame, Mode mode);

}  // namespace omx::wire
