// SPDX-License-Identifier: BSD-3-Clause
// TINY, SMALL, MEDIUM, RNDV and PACK: the packets that carry a matching header.
// wire/codec.h describes what encode_* and decode_* functions have in common.
#pragma once

#include <cstddef>

#include "wire/packets.h"

namespace omx::wire {

// Encodes a TINY when head.type is PacketType::tiny, else a SMALL.
std::size_t encode_eager(std::byte* out, const Head& head, const Eager& packet);
Drop decode_eager(Frame frame, bool extended, Eager& packet, const std::byte** data);

// Encode a PACK: records follow the header, each with its data behind it. encode_pack_record() returns the
// bytes written, at most kPackRecordMax.
std::size_t encode_pack(std::byte* out, const Head& head, const Pack& packet);
std::size_t encode_pack_record(std::byte* out, const PackRecord& record);
// Sets `records` to the bytes that packet.length covers.
Drop decode_pack(Frame frame, Pack& packet, Frame& records);
// Returns whether the records are packets. Either all of them are, or none.
bool holds_packets(Frame records);
// Takes the first record off `records`. Its data are record.length bytes at *data.
Drop decode_pack_record(Frame& records, PackRecord& record, const std::byte** data);

std::size_t encode_medium(std::byte* out, const Head& head, Mode mode, const Medium& packet);
Drop decode_medium(Frame frame, Mode mode, bool extended, Medium& packet, const std::byte** data);
// Returns how many bytes precede the data of a fragment with these flags.
std::size_t medium_header_bytes(const Medium& packet);
inline constexpr std::size_t kMediumHeaderMost = 64;

// Encode and decode a RNDV. `tail` points at packet.tail bytes. Data longer than kRndvTailMost are no tail of
// ours, and are not read.
std::size_t encode_rndv(std::byte* out, const Head& head, const Rndv& packet,
                        const std::byte* tail = nullptr);
Drop decode_rndv(Frame frame, bool extended, Rndv& packet, const std::byte** tail);

}  // namespace omx::wire
