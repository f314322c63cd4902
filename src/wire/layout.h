// SPDX-License-Identifier: BSD-3-Clause
// Offsets of all fields, from byte 0 of the Ethernet frame (docs/reference/wire.md 3). Only the codec
// includes this file. A byte that is not named here is a pad, written as zero and never read.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/bytes.h"
#include "wire/packets.h"

namespace omx::wire::layout {

// The head of every frame. The four bytes from kType on have this layout in all endpoint packets.
inline constexpr std::size_t kSourceMac = 6;
inline constexpr std::size_t kEthertypeAt = 12;
inline constexpr std::size_t kPeerIndex = 14;
inline constexpr std::size_t kType = 16;
inline constexpr std::size_t kDstEndpoint = 17;
inline constexpr std::size_t kSrcEndpoint = 18;
inline constexpr std::size_t kFlags = 19;
// the two bytes of the head's peer index, which no receiver of a PULL_REPLY reads
inline constexpr std::size_t kPullReplySource = 14;
inline constexpr std::size_t kPullReplyFlags = 15;
// the legacy library's generation byte, which it neither sets nor reads
inline constexpr std::size_t kNackFlags = 18;

// The matching header of TINY, SMALL, MEDIUM and RNDV.
namespace message {
inline constexpr std::size_t kLength = 20;  // 16 bits; 32 bits in a MEDIUM of omx mode
inline constexpr std::size_t kChecksum = 22;
inline constexpr std::size_t kSeqnum = 24;
inline constexpr std::size_t kPiggyack = 26;
inline constexpr std::size_t kMatch = 28;
inline constexpr std::size_t kSession = 36;
inline constexpr std::size_t kEnd = 40;  // data of TINY and SMALL follow
}  // namespace message

// PACK has the matching header without the length and match information of one message. Each record has
// these.
namespace pack_record {
inline constexpr std::size_t kMatch = 0;
inline constexpr std::size_t kLength = 8;
inline constexpr std::size_t kFlags = 10;  // kFlagHeaderExt, kPacket or 0
inline constexpr std::uint8_t kPacket = 8;
inline constexpr std::size_t kEnd = 12;  // the header extension follows if there is one, then the data
}  // namespace pack_record

namespace medium {
inline constexpr std::size_t kFragLength = 40;
inline constexpr std::size_t kFragSeqnum = 42;
inline constexpr std::size_t kFragPipeline = 43;  // mxoe; a pad in omx
inline constexpr std::size_t kChecksum = 44;
inline constexpr std::size_t kFragUnit = 46;  // ours, omx only
inline constexpr std::size_t kEnd = 48;
}  // namespace medium

namespace rndv {
inline constexpr std::size_t kMsgLength = 40;
inline constexpr std::size_t kRdmaId = 44;
inline constexpr std::size_t kRdmaSeqnum = 45;
inline constexpr std::size_t kRdmaOffset = 46;
inline constexpr std::size_t kEnd = 48;
inline constexpr std::size_t kData = message::kEnd;  // the length field counts from here
inline constexpr std::uint16_t kDataBytes = kEnd - kData;
// The fields that kFlagUnscheduled adds, before the tail.
inline constexpr std::size_t kUnscheduledUnit = kEnd;
inline constexpr std::size_t kUnscheduledFrames = kEnd + 2;
inline constexpr std::size_t kUnscheduledBytes = 4;
// The field that kFlagPage adds, behind those: two bytes, and two zeros.
inline constexpr std::size_t kPageBytes = 4;
}  // namespace rndv

namespace pull {  // both modes
inline constexpr std::size_t kSession = 20;
inline constexpr std::size_t kTotalLength = 24;
}  // namespace pull

namespace pull_mxoe {
inline constexpr std::size_t kRdmaId = 28;
inline constexpr std::size_t kRdmaSeqnum = 29;
inline constexpr std::size_t kRdmaOffset = 30;
inline constexpr std::size_t kHandle = 32;
inline constexpr std::size_t kMagic = 36;
inline constexpr std::size_t kFirstFrameOffset = 40;
inline constexpr std::size_t kBlockLength = 42;
inline constexpr std::size_t kFrameIndex = 44;
inline constexpr std::size_t kEnd = 48;
}  // namespace pull_mxoe

namespace pull_omx {
inline constexpr std::size_t kRdmaId = 28;
inline constexpr std::size_t kRdmaSeqnum = 32;
inline constexpr std::size_t kReplyMax = 34;  // ours, in a pad of the legacy layout
inline constexpr std::size_t kRdmaOffset = 36;
inline constexpr std::size_t kHandle = 40;
inline constexpr std::size_t kMagic = 44;
inline constexpr std::size_t kFirstFrameOffset = 48;
inline constexpr std::size_t kBlockLength = 52;
inline constexpr std::size_t kFrameIndex = 56;
inline constexpr std::size_t kEnd = 60;
}  // namespace pull_omx

namespace pull_reply {
inline constexpr std::size_t kFrameSeqnum = 17;
inline constexpr std::size_t kFrameLength = 18;
inline constexpr std::size_t kMsgOffset = 20;
inline constexpr std::size_t kHandle = 24;
inline constexpr std::size_t kMagic = 28;
inline constexpr std::size_t kEnd = 32;
static_assert(kEnd == kBulkHeader);
}  // namespace pull_reply

namespace notify {
inline constexpr std::size_t kSession = 20;
inline constexpr std::size_t kTotalLength = 24;
inline constexpr std::size_t kRdmaId = 28;
inline constexpr std::size_t kRdmaSeqnum = 29;
inline constexpr std::size_t kPage = 30;  // ours, in a pad of the legacy layout; with kFlagPage
inline constexpr std::size_t kSeqnum = 34;
inline constexpr std::size_t kPiggyack = 36;
inline constexpr std::size_t kEnd = 40;
}  // namespace notify

namespace truc {
inline constexpr std::size_t kLength = 20;  // 8 bits
inline constexpr std::size_t kSession = 24;
inline constexpr std::size_t kDataType = 28;
inline constexpr std::size_t kSeqnum = 30;
inline constexpr std::size_t kSessionAgain = 32;
inline constexpr std::size_t kAcknum = 36;
inline constexpr std::size_t kSendSeq = 40;
inline constexpr std::size_t kResent = 42;
inline constexpr std::size_t kEnd = 44;
inline constexpr std::size_t kSack = kEnd;  // ours
inline constexpr std::size_t kData = kDataType;
inline constexpr std::uint8_t kAckType = 0x55;
inline constexpr std::uint8_t kAckBytes = kEnd - kData;
inline constexpr std::uint8_t kSackBytes = 32;
}  // namespace truc

namespace nack_lib {
inline constexpr std::size_t kSrcEndpoint = 17;  // source before destination, unlike all other packets
inline constexpr std::size_t kCode = 19;
inline constexpr std::size_t kDstEndpoint = 25;
inline constexpr std::size_t kPeerIndexAgain = 26;
inline constexpr std::size_t kSeqnum = 28;
inline constexpr std::size_t kEnd = 32;
}  // namespace nack_lib

namespace nack_mcp {
inline constexpr std::size_t kSrcEndpoint = 17;
inline constexpr std::size_t kCode = 19;
inline constexpr std::size_t kRefusing = 20;  // ours, in a pad of the legacy layout
inline constexpr std::size_t kHandle = 24;
inline constexpr std::size_t kMagic = 28;
inline constexpr std::size_t kEnd = 32;
}  // namespace nack_mcp

namespace connect {
inline constexpr std::size_t kLength = 20;  // 8 bits
inline constexpr std::size_t kSeqnum = 24;
inline constexpr std::size_t kSrcDstPeerIndex = 26;
inline constexpr std::size_t kData = 32;
inline constexpr std::size_t kSrcSession = 32;
inline constexpr std::size_t kKeyOrTargetSession = 36;
inline constexpr std::size_t kRecvSeqnumStart = 40;
inline constexpr std::size_t kIsReply = 42;
inline constexpr std::size_t kConnectSeqnum = 43;
inline constexpr std::size_t kStatus = 44;
inline constexpr std::size_t kEnd = 48;
inline constexpr std::uint8_t kDataBytes = kEnd - kData;
}  // namespace connect

// The extension block behind CONNECT. Its checksum is the last four bytes of a block of any size.
namespace connect_ext {
inline constexpr std::size_t kMagic = connect::kEnd;
inline constexpr std::size_t kVersion = 52;
inline constexpr std::size_t kSize = 53;
inline constexpr std::size_t kFeatures = 54;
inline constexpr std::size_t kMaxFrame = 56;
inline constexpr std::size_t kEagerFrames = 60;
inline constexpr std::size_t kPullFrames = 62;
inline constexpr std::size_t kMode = 63;
inline constexpr std::size_t kGeneration = 64;
inline constexpr std::size_t kPeerGeneration = 68;  // top bit: still in use
// the end of what every block has; its CRC or further parts follow
inline constexpr std::size_t kPartsEnd = 72;
inline constexpr std::size_t kBulkIp = 72;
inline constexpr std::size_t kBulkPort = 88;
inline constexpr std::size_t kBulkFrame = 90;
inline constexpr std::size_t kBulkEnd = 92;
inline constexpr std::size_t kEnd = kPartsEnd + 4;
inline constexpr std::uint8_t kBytes = kEnd - connect::kEnd;
inline constexpr std::uint8_t kBulkBytes = kBulkEnd - kPartsEnd;
// The boards of the sender, behind the address of the bulk path if there is one: a count, three zeros, the
// addresses.
inline constexpr std::size_t kRailsCount = 0, kRailsNics = 4, kRailsNic = 6;
inline constexpr std::uint8_t kRailsBytes = kRailsNics + kRailsMost * kRailsNic;
static_assert(kBytes == 28);
}  // namespace connect_ext

namespace host {
inline constexpr std::size_t kNameLength = 17;
inline constexpr std::size_t kSrcDstPeerIndex = 18;
inline constexpr std::size_t kMagic = 24;
inline constexpr std::size_t kEnd = 32;  // the name follows
}  // namespace host

namespace discovery {
inline constexpr std::size_t kNic = 32;
inline constexpr std::size_t kSerial = 40;
inline constexpr std::size_t kEnd = 44;  // the end of what is read
inline constexpr std::size_t kFrame = 64;
}  // namespace discovery

namespace probe {
inline constexpr std::size_t kSession = 20;
inline constexpr std::size_t kSize = 24;
inline constexpr std::size_t kCookie = 28;
inline constexpr std::size_t kIsReply = 32;
inline constexpr std::size_t kEnd = 48;
inline constexpr std::uint32_t kSizeMax = 65535 + kEthernetHeader;
}  // namespace probe

// The header extension, relative to its own start.
namespace header_ext {
inline constexpr std::size_t kMessageClass = 0;
inline constexpr std::size_t kDataValid = 1;
inline constexpr std::size_t kData = 8;
}  // namespace header_ext

// Writes the head. Its peer index fills the two bytes before the type.
inline void put_head(std::byte* out, const Head& head) {
  store_be64(out, (head.dst << 16) | ((head.src >> 32) & 0xffff));
  store_be32(out + 8, static_cast<std::uint32_t>(head.src));
  store_be32(out + kEthertypeAt, std::uint32_t{kEthertype} << 16 | head.peer_index);
}

// Writes the first four body bytes in the order that almost every packet has.
inline void put_first(std::byte* out, PacketType type, std::uint8_t b1, std::uint8_t b2, std::uint8_t b3) {
  store_be32(out + kType, std::uint32_t{static_cast<std::uint8_t>(type)} << 24 | std::uint32_t{b1} << 16 |
                              std::uint32_t{b2} << 8 | b3);
}

inline bool has_type(Frame frame, PacketType type) {
  return load8(frame.data() + kType) == static_cast<std::uint8_t>(type);
}

// Returns the flags byte, or 0 unless the sender exchanged extension blocks with us. Other senders leave it
// uninitialised.
inline std::uint8_t flags_at(Frame frame, std::size_t offset, bool extended) {
  return extended ? load8(frame.data() + offset) : std::uint8_t{0};
}

inline std::size_t ext_bytes(std::uint8_t flags) {
  return flags & kFlagHeaderExt ? kHeaderExtBytes : 0;
}
inline std::size_t trailer_bytes(std::uint8_t flags) {
  return flags & kFlagChecksum ? kChecksumBytes : 0;
}

}  // namespace omx::wire::layout
