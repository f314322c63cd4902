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
#include <span>

#include "wire/packets.h"

namespace omx::wire {

using Frame = std::span<const std::byte>;

const char* packet_type_name(PacketType type);
const char* drop_name(Drop drop);

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

std::size_t encode_connect(std::byte* out, const Head& head, const Connect& packet);
Drop decode_connect(Frame frame, Connect& packet);

// TINY when type is PacketType::tiny, else SMALL; head.type selects.
std::size_t encode_eager(std::byte* out, const Head& head, const Eager& packet);
Drop decode_eager(Frame frame, bool extended, Eager& packet, const std::byte** data);

// PACK: behind the header follow records, each with its data. Record: the bytes written, at most
// kPackRecordMax.
std::size_t encode_pack(std::byte* out, const Head& head, const Pack& packet);
std::size_t encode_pack_record(std::byte* out, const PackRecord& record);
// `records`: what packet.length covers.
Drop decode_pack(Frame frame, Pack& packet, Frame& records);
// Whether they are packets: all of them are, or none.
bool holds_packets(Frame records);
// Takes the first record off `records`; its data are record.length bytes at *data.
Drop decode_pack_record(Frame& records, PackRecord& record, const std::byte** data);

std::size_t encode_medium(std::byte* out, const Head& head, Mode mode, const Medium& packet);
Drop decode_medium(Frame frame, Mode mode, bool extended, Medium& packet, const std::byte** data);
// What precedes the data of a fragment with these flags.
std::size_t medium_header_bytes(const Medium& packet);
inline constexpr std::size_t kMediumHeaderMost = 64;

// `tail`: packet.tail bytes. Longer ones than kRndvTailMost are somebody else's data, and not read.
std::size_t encode_rndv(std::byte* out, const Head& head, const Rndv& packet,
                        const std::byte* tail = nullptr);
Drop decode_rndv(Frame frame, bool extended, Rndv& packet, const std::byte** tail);

std::size_t encode_pull(std::byte* out, const Head& head, Mode mode, const Pull& packet);
Drop decode_pull(Frame frame, Mode mode, bool extended, Pull& packet);

// PULL_REPLY: head.peer_index is written as {0, flags} when flags are set, else as given. An extended
// receiver takes the low byte for flags, so give peer_index 0 to extended peers.
std::size_t encode_pull_reply(std::byte* out, const Head& head, const PullReply& packet);
Drop decode_pull_reply(Frame frame, bool extended, PullReply& packet, const std::byte** data);

std::size_t encode_notify(std::byte* out, const Head& head, const Notify& packet);
Drop decode_notify(Frame frame, bool extended, Notify& packet);

std::size_t encode_truc(std::byte* out, const Head& head, const Truc& packet);
Drop decode_truc(Frame frame, bool extended, Truc& packet);

std::size_t encode_nack_lib(std::byte* out, const Head& head, const NackLib& packet);
Drop decode_nack_lib(Frame frame, bool extended, NackLib& packet);

std::size_t encode_nack_mcp(std::byte* out, const Head& head, const NackMcp& packet);
Drop decode_nack_mcp(Frame frame, bool extended, NackMcp& packet);

std::size_t encode_host_query(std::byte* out, const Head& head, const HostQuery& packet);
Drop decode_host_query(Frame frame, HostQuery& packet);

// Writes the name too (packet.name, name_length bytes with NUL, 1..kHostnameMax).
std::size_t encode_host_reply(std::byte* out, const Head& head, const HostReply& packet);
Drop decode_host_reply(Frame frame, HostReply& packet);

std::size_t encode_probe(std::byte* out, const Head& head, const Probe& packet);
Drop decode_probe(Frame frame, Probe& packet);

// The 64-byte broadcast of the MX discovery daemons (wire.md 4.13); out needs 64 bytes.
std::size_t encode_discovery(std::byte* out, NicId self, std::uint32_t serial);
// bad_type when the RAW frame is something else.
Drop decode_discovery(Frame frame, NicId& nic, std::uint32_t& serial);

// Bytes of a frame from F0 that its length fields account for (headers, extension and data; without padding
// and CRC trailer), or 0 when the frame is malformed. Where the CRC trailer starts. For frames of extended
// peers: the flags byte is believed. What fills a PROBE up to its size is padding: the trailer lies behind
// its header.
std::size_t covered_length(Frame frame, Mode mode);

// CRC-32C trailer over frame bytes [12, covered): the MAC addresses are left out because the hardware or a
// bridge may rewrite nothing else. verify: true when the trailer is present and right.
bool checksum_verify(Frame frame, Mode mode);

}  // namespace omx::wire
