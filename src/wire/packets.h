// SPDX-License-Identifier: BSD-3-Clause
// The packet formats of MXoE / Open-MX (spec: wire.md; our own extensions: docs/wire.md). Structures here
// hold host-order values; codec.h turns them into bytes and back.
//
// Adding a packet type: the enum, a struct, encode/decode in codec.h, packet_type_name, the golden tests, the
// fuzz corpus, docs/wire.md, the endpoint filter of link/packet_filter, and steering/xdp/steer.bpf.c.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/mac.h"
#include "wire/lane.h"

namespace omx::wire {

using Frame = std::span<const std::byte>;  // from byte 0 of the Ethernet header

inline constexpr std::uint16_t kEthertype = 0x86DF;
inline constexpr std::size_t kEthernetHeader = 14;
inline constexpr std::size_t kHeadBytes = 16;   // Ethernet header and peer index
inline constexpr std::size_t kBulkHeader = 32;  // of PULL_REPLY; its data follow
inline constexpr std::size_t kMinFrame = 60;    // Ethernet minimum without FCS
inline constexpr std::uint16_t kUnknownPeerIndex = 0xFFFF;
inline constexpr std::uint32_t kUnknownSession = 0xFFFFFFFF;
inline constexpr std::uint32_t kPullMagic = 0x21071980;  // XOR endpoint number (wire.md 4.5)
inline constexpr std::uint32_t kTinyMax = 32;
inline constexpr std::uint32_t kSmallMax = 128;
inline constexpr std::uint32_t kRndvTailMost = 120;
// Pull replies that nobody asked for (docs/wire.md 17) name the RNDV instead of a pull.
inline constexpr std::uint32_t kUnaskedMagic = 0x55A50000;
inline constexpr bool unasked(std::uint32_t magic) {
  return (magic & 0xFFFF0000) == kUnaskedMagic;
}
inline constexpr std::uint32_t unasked_magic(std::uint8_t to, std::uint8_t from) {
  return kUnaskedMagic | static_cast<std::uint32_t>(from) << 8 | (to ^ (kPullMagic & 0xFF));
}
inline constexpr std::uint32_t kRawFrameMax = 1024;
inline constexpr std::uint32_t kHostnameMax = 80;  // with NUL
inline constexpr std::uint32_t kHostQueryMagic = 0x13052008;
inline constexpr unsigned kMxoePipeline = 12;  // log2 of the medium fragment in mxoe mode

// Layout of MEDIUM and PULL, and the sizes that go with it (wire.md 5).
enum class Mode : std::uint8_t { mxoe = 0, omx = 1 };

enum class PacketType : std::uint8_t {
  none = 0,
  raw = 1,
  host_query = 3,
  host_reply = 4,
  truc = 35,
  connect = 36,
  tiny = 37,
  small = 38,
  medium = 39,
  rndv = 40,
  pull = 41,
  pull_reply = 42,
  notify = 43,
  nack_lib = 44,
  nack_mcp = 45,
  probe = 64,  // ours: path MTU probe and its answer, only to peers that announced it
  pack = 65,   // ours: several short messages, likewise
};

// Nack codes (wire.md 4.11).
enum class NackCode : std::uint8_t {
  none = 0,
  bad_endpoint = 1,
  endpoint_closed = 2,
  bad_session = 3,
  bad_rdma_window = 4
};

// Why a frame was not decoded. Each is counted; none is an error of ours.
enum class Drop : std::uint8_t {
  none = 0,         // decoded
  frame_too_short,  // shorter than its type's header
  bad_length,       // a length field outside its legal range
  truncated,        // frame shorter than the data it announces
  bad_type,         // not the type asked for, reserved or unknown
  bad_checksum,     // CRC trailer wrong or missing where it was negotiated
};

// Bits of the flags byte (B3 of endpoint packets, F15 of PULL_REPLY). The reference leaves these bytes
// unspecified, so they mean something only between peers that exchanged extension blocks.
enum Flags : std::uint8_t {
  kFlagUrgent = 1,      // latency-sensitive mark (design.md 3)
  kFlagChecksum = 2,    // CRC-32C trailer after the data
  kFlagHeaderExt = 4,   // 16-byte header extension between header and data
  kFlagGap = 8,         // PULL: asks again, as later frames arrived
  kFlagUnasked = 8,     // RNDV: data follow unasked. NOTIFY: they may with the next one
  kFlagRail = 8,        // PROBE: of the way that it takes, and answered by the same
  kFlagPark = 8,        // TRUC: the message that is missing next shall come as RNDV, and nothing else
  kFlagQuiet = 16,      // PULL: the last frame of the answer need not be urgent
  kFlagPage = 16,       // RNDV, NOTIFY: the region is of a page that is not 0
  kFlagLane = 32,       // PULL: answer by the lane. PROBE: came by it, or, as a reply, one did
  kFlagLaneProbe = 64,  // PULL: show that my lane is reached. PROBE, MEDIUM: something went by the lane
  kFlagBell = 128,      // PULL: announce an answer by the lane
};

struct Head {
  NicId dst = 0;
  NicId src = 0;
  std::uint16_t peer_index = kUnknownPeerIndex;
  PacketType type = PacketType::none;
};

// The header extension of TINY, SMALL, MEDIUM and RNDV (kFlagHeaderExt): what libfabric needs beside 64 bits
// of tag.
struct HeaderExt {
  std::uint8_t message_class = 0;  // separate matching spaces
  std::uint8_t data_valid = 0;
  std::uint64_t data = 0;  // remote completion data
  bool operator==(const HeaderExt&) const = default;
};
inline constexpr std::size_t kHeaderExtBytes = 16;
inline constexpr std::size_t kChecksumBytes = 4;

// The extension block behind CONNECT's 16 data bytes (docs/wire.md). Its presence announces support. Decoding
// refuses max_frame < 188 (a SMALL with all extensions) and zeros in pull_frames and eager_frames; a mode
// that we do not know is handed on as it is.
// The boards of one endpoint. The first is the one that it is known by.
inline constexpr std::size_t kRailsMost = 4;
struct RailNics {
  std::uint8_t count = 0;  // 0 or 2 to kRailsMost
  std::array<NicId, kRailsMost> nics{};
  bool operator==(const RailNics&) const = default;
  // Its place among them; kRailsMost: it is none.
  std::size_t place(NicId nic) const {
    for (std::size_t i = 0; i < count; i++)
      if (nics[i] == nic) return i;
    return kRailsMost;
  }
};

struct ConnectExt {
  bool present = false;
  std::uint8_t version = 1;
  Mode mode = Mode::omx;
  std::uint16_t features = 0;      // Feature bits
  std::uint32_t max_frame = 0;     // largest frame, Ethernet header included, that the sender can receive
  std::uint8_t pull_frames = 0;    // frames per pull block it serves
  std::uint16_t eager_frames = 0;  // unacknowledged eager frames it can hold
  // Which count of received numbers the packet's first number belongs to, and which of the receiver's counts
  // the sender numbers its own messages in (docs/wire.md 5). 31 bits; 0 = none.
  std::uint32_t epoch = 0;
  std::uint32_t peer_epoch = 0;
  bool peer_epoch_in_use = false;  // false: it was in use, and is given up
  LaneAddress lane;                // with kFeatureLane
  RailNics rails;                  // with kFeatureRails
  bool operator==(const ConnectExt&) const = default;
};
inline constexpr std::uint32_t kEpochMask = 0x7FFFFFFF;
enum Feature : std::uint16_t {
  kFeatureMark = 1,       // understands kFlagUrgent
  kFeatureChecksum = 2,   // wants CRC trailers; used when both sides want them
  kFeatureHeaderExt = 4,  // understands kFlagHeaderExt
  kFeatureSack = 8,       // understands TRUC with a bitmap of early messages
  kFeatureProbe = 16,     // answers PROBE
  kFeaturePack = 32,      // reads PACK
  kFeatureLane = 64,      // takes pull replies by a lane; the block holds its address
  kFeatureTail = 128,     // reads the tail of RNDV
  kFeatureUnasked = 256,  // takes data of RNDV unasked
  kFeatureShare = 512,    // reads PACK whose records are packets
  kFeatureRails = 1024,   // has several boards; the block says which
  kFeaturePark = 4096,    // sends as RNDV what it is asked for so, and knows pages of regions
  kFeatureAhead = 2048,   // waits for the rest of an answer by a lane that is announced ahead of its end
};
inline constexpr std::uint32_t kConnectExtMagic = 0x4f4d5845;  // "OMXE"

struct Connect {
  std::uint8_t dst_endpoint = 0, src_endpoint = 0;
  std::uint16_t seqnum = 0;  // always 0
  std::uint16_t src_dst_peer_index = 0;
  std::uint32_t src_session = 0;
  std::uint32_t key_or_target_session = 0;  // request: key; reply: responder's session
  std::uint16_t target_recv_seqnum_start = 0;
  bool is_reply = false;
  std::uint8_t connect_seqnum = 0;
  std::uint8_t status = 0;  // reply only: 0 or 11
  ConnectExt ext;
  bool operator==(const Connect&) const = default;
};

// Fields shared by TINY, SMALL, MEDIUM and RNDV.
struct Message {
  std::uint8_t dst_endpoint = 0, src_endpoint = 0, flags = 0;
  std::uint16_t seqnum = 0;
  std::uint16_t piggyack = 0;
  std::uint64_t match_info = 0;
  std::uint32_t session = 0;
  HeaderExt ext;  // valid with kFlagHeaderExt
  bool operator==(const Message&) const = default;
};

struct Eager : Message {  // TINY or SMALL, told apart by the packet type
  std::uint16_t length = 0;
  std::uint16_t checksum = 0;  // reference debug checksum; 0
  bool operator==(const Eager&) const = default;
};

// Several messages with consecutive numbers, each a record with its data behind it.
struct Pack : Message {      // seqnum is the first one's; match_info and ext are each record's own
  std::uint16_t length = 0;  // of all records with their data
  bool operator==(const Pack&) const = default;
};

struct PackRecord {
  std::uint64_t match_info = 0;
  std::uint16_t length = 0;  // data, at most kSmallMax, or kSharedPacketMax
  bool has_ext = false;
  bool packet = false;  // the data are a packet that is numbered by itself, without its Ethernet header
  HeaderExt ext;
  bool operator==(const PackRecord&) const = default;
};
inline constexpr std::size_t kPackRecordMax = 12 + kHeaderExtBytes;
inline constexpr std::uint32_t kSharedPacketsMost = 16;                     // that a receiver reads
inline constexpr std::uint32_t kPacketRecord = 12, kSharedPacketMax = 256;  // before a packet; of it

struct Medium : Message {
  std::uint32_t length = 0;       // whole message
  std::uint16_t frag_length = 0;  // data bytes in this frame
  std::uint8_t frag_seqnum = 0;
  std::uint8_t frag_pipeline = 0;  // mxoe: log2 of the offset unit
  std::uint16_t checksum = 0;
  std::uint16_t frag_unit = 0;  // omx between extended peers: bytes of a full fragment; 0 = configured value
  bool operator==(const Medium&) const = default;
};

struct Rndv : Message {
  std::uint32_t msg_length = 0;
  std::uint8_t rdma_id = 0;
  std::uint8_t rdma_seqnum = 0;
  std::uint16_t rdma_offset = 0;
  std::uint16_t checksum = 0;
  std::uint16_t tail = 0;  // the last bytes of the message, which come with it; to who has kFeatureTail
  // With kFlagUnasked: its first frames, of so many data bytes each, follow.
  std::uint16_t unasked_unit = 0;
  std::uint8_t unasked_frames = 0;
  std::uint16_t page = 0;  // of the region; with kFlagPage
  bool operator==(const Rndv&) const = default;
};

struct Pull {
  std::uint8_t dst_endpoint = 0, src_endpoint = 0, flags = 0;
  std::uint32_t session = 0;
  std::uint32_t total_length = 0;
  std::uint32_t rdma_id = 0;
  std::uint8_t rdma_seqnum = 0;
  std::uint32_t rdma_offset = 0;
  std::uint32_t pull_handle = 0;
  std::uint32_t magic = 0;
  std::uint32_t first_frame_offset = 0;
  std::uint32_t block_length = 0;
  std::uint32_t frame_index = 0;
  // omx between extended peers: data bytes of a full reply; 0 = configured value
  std::uint16_t reply_max = 0;
  bool operator==(const Pull&) const = default;
};

struct PullReply {
  std::uint8_t flags = 0;
  std::uint8_t frame_seqnum = 0;
  std::uint16_t frame_length = 0;
  std::uint32_t msg_offset = 0;
  std::uint32_t pull_handle = 0;
  std::uint32_t magic = 0;
  bool operator==(const PullReply&) const = default;
};

struct Notify {
  std::uint8_t dst_endpoint = 0, src_endpoint = 0, flags = 0;
  std::uint32_t session = 0;
  std::uint32_t total_length = 0;
  std::uint8_t rdma_id = 0;
  std::uint8_t rdma_seqnum = 0;
  std::uint16_t seqnum = 0;
  std::uint16_t piggyack = 0;
  std::uint16_t page = 0;  // of the region; with kFlagPage
  bool operator==(const Notify&) const = default;
};

// Library acknowledgement. Between extended peers a 32-byte bitmap may follow: bit i (byte i/8, bit i%8) is
// set when message number seqnum + 1 + i has arrived whole (kFeatureSack).
struct Truc {
  std::uint8_t dst_endpoint = 0, src_endpoint = 0, flags = 0;
  std::uint32_t session = 0;
  std::uint16_t seqnum = 0;  // next number wanted
  std::uint32_t acknum = 0;
  std::uint16_t send_seq = 0;
  std::uint8_t resent = 0;
  bool has_sack = false;
  std::uint8_t sack[32] = {};
  bool operator==(const Truc&) const = default;
};

struct NackLib {
  std::uint8_t src_endpoint = 0;  // the nacker
  std::uint8_t dst_endpoint = 0;  // who sent the refused packet
  std::uint8_t flags = 0;         // B2
  NackCode code = NackCode::none;
  std::uint16_t peer_index = 0;
  std::uint16_t seqnum = 0;
  bool operator==(const NackLib&) const = default;
};

struct NackMcp {
  std::uint8_t src_endpoint = 0;  // the puller's own, echoed
  std::uint8_t flags = 0;         // B2
  NackCode code = NackCode::none;
  std::uint32_t pull_handle = 0;
  std::uint32_t magic = 0;
  bool operator==(const NackMcp&) const = default;
};

struct HostQuery {
  std::uint16_t src_dst_peer_index = 0;
  std::uint32_t magic = 0;
  bool operator==(const HostQuery&) const = default;
};

struct HostReply {
  std::uint16_t src_dst_peer_index = 0;
  std::uint32_t magic = 0;
  std::uint8_t name_length = 0;  // with NUL
  const char* name = nullptr;    // points into the frame; NUL-terminated within name_length
};

// Path MTU probe (ours): padded with zeros to `size` bytes of frame; the answer has the same size.
struct Probe {
  std::uint8_t dst_endpoint = 0, src_endpoint = 0, flags = 0;
  bool is_reply = false;
  std::uint32_t session = 0;  // of the destination
  std::uint32_t size = 0;     // of the whole frame, Ethernet header included
  std::uint32_t cookie = 0;   // echoed
  bool operator==(const Probe&) const = default;
};

}  // namespace omx::wire
