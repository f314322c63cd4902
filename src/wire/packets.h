// SPDX-License-Identifier: BSD-3-Clause
// The packet formats of MXoE / Open-MX (docs/spec/wire.md) and our extensions of them
// (docs/reference/wire.md). Structures here hold values in host order. codec.h turns them into bytes and
// back.
//
// A new packet type needs: the enum, a struct, encode and decode functions, packet_type_name(), golden tests,
// the fuzz corpus, docs/reference/wire.md, the endpoint filter of the packet link, and
// steering/xdp/steer.bpf.c.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/mac.h"
#include "wire/udp_bulk.h"

namespace omx::wire {

using Frame = std::span<const std::byte>;  // from byte 0 of the Ethernet header

inline constexpr std::uint16_t kEthertype = 0x86DF;
inline constexpr std::size_t kEthernetHeader = 14;
inline constexpr std::size_t kHeadBytes = 16;   // Ethernet header and peer index
inline constexpr std::size_t kBulkHeader = 32;  // of PULL_REPLY, behind which its data follow
inline constexpr std::size_t kMinFrame = 60;    // Ethernet minimum without FCS
inline constexpr std::uint16_t kUnknownPeerIndex = 0xFFFF;
inline constexpr std::uint32_t kUnknownSession = 0xFFFFFFFF;
inline constexpr std::uint32_t kPullMagic = 0x21071980;  // XOR endpoint number (docs/spec/wire.md 4.5)
inline constexpr std::uint32_t kTinyMax = 32;
inline constexpr std::uint32_t kSmallMax = 128;
inline constexpr std::uint32_t kRndvTailMost = 120;
// The magic of unscheduled pull replies, which name the RNDV instead of a pull (docs/reference/wire.md 17).
inline constexpr std::uint32_t kUnscheduledMagic = 0x55A50000;
inline constexpr bool unscheduled(std::uint32_t magic) {
  return (magic & 0xFFFF0000) == kUnscheduledMagic;
}
inline constexpr std::uint32_t unscheduled_magic(std::uint8_t to, std::uint8_t from) {
  return kUnscheduledMagic | static_cast<std::uint32_t>(from) << 8 | (to ^ (kPullMagic & 0xFF));
}
// Returns the sender's endpoint.
inline constexpr std::uint8_t unscheduled_from(std::uint32_t magic) {
  return static_cast<std::uint8_t>(magic >> 8);
}
inline constexpr std::uint32_t kRawFrameMax = 1024;
inline constexpr std::uint32_t kHostnameMax = 80;  // with NUL
inline constexpr std::uint32_t kHostQueryMagic = 0x13052008;
inline constexpr unsigned kMxoePipeline = 12;  // log2 of the medium fragment in mxoe mode

// The layout of MEDIUM and PULL, and the sizes that go with it (docs/spec/wire.md 5).
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
  pack = 65,   // ours: several short messages, only to peers that announced it
};

// Nack codes (docs/spec/wire.md 4.11).
enum class NackCode : std::uint8_t {
  none = 0,
  bad_endpoint = 1,
  endpoint_closed = 2,
  bad_session = 3,
  bad_rdma_window = 4
};

// Why a frame was not decoded. Each reason is counted. None means a fault of ours.
enum class Drop : std::uint8_t {
  none = 0,         // decoded
  frame_too_short,  // shorter than its type's header
  bad_length,       // a length field outside its legal range
  truncated,        // frame shorter than the data it announces
  bad_type,         // another type than expected, reserved or unknown
  bad_checksum,     // CRC trailer wrong or missing where it was negotiated
};

// Bits of the flags byte (B3 of endpoint packets, F15 of PULL_REPLY). Legacy peers leave these bytes
// undefined, so they mean something only between peers that exchanged extension blocks
// (docs/reference/wire.md 6).
enum Flags : std::uint8_t {
  kFlagUrgent = 1,       // latency-sensitive: a receiver may be waiting for this frame
  kFlagChecksum = 2,     // CRC-32C trailer after the data
  kFlagHeaderExt = 4,    // 16-byte header extension between header and data
  kFlagShared = 4,       // PULL: its sender reads itself what does not come, so the owner need not answer
  kFlagGap = 8,          // PULL: repeated because later frames arrived
  kFlagUnscheduled = 8,  // RNDV: unscheduled data follow. NOTIFY: they may follow the next RNDV
  kFlagRail = 8,         // PROBE: tests the path that it takes; the answer takes the same path
  kFlagPark = 8,         // TRUC: send the next missing message as RNDV, and nothing else
  kFlagQuiet = 16,       // PULL: the last frame of the answer need not be urgent
  kFlagPage = 16,        // RNDV, NOTIFY: the region's page is not 0
  kFlagMarked = 16,      // TRUC: a queue on the path marked frames that came (ECN)
  kFlagBulk = 32,        // PULL: answer by the bulk path. PROBE: came by it; in a reply: one came by it
  kFlagBulkProbe = 64,   // PULL: show that my bulk path is reached. PROBE, MEDIUM: frames went by it
  kFlagAnnounce = 128,   // PULL: announce an answer by the bulk path
  kFlagAskAck = 128,     // TINY, SMALL, MEDIUM, RNDV: acknowledge the message at once when it is complete
};

struct Head {
  NicId dst = 0;
  NicId src = 0;
  std::uint16_t peer_index = kUnknownPeerIndex;
  PacketType type = PacketType::none;
};

// The header extension of TINY, SMALL, MEDIUM and RNDV (kFlagHeaderExt): what libfabric needs beside a tag of
// 64 bits.
struct HeaderExt {
  std::uint8_t message_class = 0;  // separate matching spaces
  std::uint8_t data_valid = 0;
  std::uint64_t data = 0;  // remote completion data
  bool operator==(const HeaderExt&) const = default;
};
inline constexpr std::size_t kHeaderExtBytes = 16;
inline constexpr std::size_t kChecksumBytes = 4;

// The boards of one endpoint. The first one identifies the endpoint.
inline constexpr std::size_t kRailsMost = 4;
struct RailNics {
  std::uint8_t count = 0;  // 0 or 2 to kRailsMost
  std::array<NicId, kRailsMost> nics{};
  bool operator==(const RailNics&) const = default;
  // Returns the place of a board among them, or kRailsMost if it is none of them.
  std::size_t place(NicId nic) const {
    for (std::size_t i = 0; i < count; i++)
      if (nics[i] == nic) return i;
    return kRailsMost;
  }
};

// The extension block behind CONNECT's 16 data bytes (docs/reference/wire.md 5). Its presence announces
// support. The decoder refuses max_frame < 188 (a SMALL with all extensions) and zeros in pull_frames and
// eager_frames. A mode that this version does not know is returned as it is.
struct ConnectExt {
  bool present = false;
  std::uint8_t version = 1;
  Mode mode = Mode::omx;
  std::uint16_t features = 0;      // Feature bits
  std::uint32_t max_frame = 0;     // largest frame, Ethernet header included, that the sender can receive
  std::uint8_t pull_frames = 0;    // frames per pull block that the sender serves
  std::uint16_t eager_frames = 0;  // unacknowledged eager frames that the sender can hold
  // Counter generations (docs/reference/wire.md 5). `generation` is the one that the packet's first number
  // belongs to. `peer_generation` is the receiver's one in which the sender numbers its own messages. 31
  // bits; 0 = none.
  std::uint32_t generation = 0;
  std::uint32_t peer_generation = 0;
  bool peer_generation_in_use = false;  // false: it was in use and was given up
  BulkAddress bulk_address;             // with kFeatureBulk
  RailNics rails;                       // with kFeatureRails
  bool operator==(const ConnectExt&) const = default;
};
inline constexpr std::uint32_t kCountGenerationMask = 0x7FFFFFFF;
enum Feature : std::uint16_t {
  kFeatureMark = 1,               // understands kFlagUrgent
  kFeatureChecksum = 2,           // wants CRC trailers; used when both sides want them
  kFeatureHeaderExt = 4,          // understands kFlagHeaderExt
  kFeatureSack = 8,               // understands TRUC with a bitmap of reordered messages
  kFeatureProbe = 16,             // answers PROBE
  kFeaturePack = 32,              // reads PACK
  kFeatureBulk = 64,              // takes pull replies by its bulk path, whose address is in the block
  kFeatureTail = 128,             // reads the tail of RNDV
  kFeatureUnscheduled = 256,      // takes unscheduled data of RNDV
  kFeatureCoalescePackets = 512,  // reads PACK whose records are packets
  kFeatureRails = 1024,           // has several boards; the block says which
  kFeaturePark = 4096,            // sends messages as RNDV on request, and knows pages of regions
  kFeatureAhead = 2048,           // waits for the rest of a bulk path answer that is announced before its end
  kFeatureSource = 8192,          // names its endpoint in PULL_REPLY and NACK_MCP
  kFeatureGsoFrame = 16384,       // takes GSO frames by its bulk path
  kFeatureMarks = 32768,          // tells of marks (kFlagMarked), and asks for less when replies are marked
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
  std::uint16_t checksum = 0;  // a debug checksum of the legacy library; 0
  bool operator==(const Eager&) const = default;
};

// Several messages with consecutive numbers, each a record with its data behind it.
struct Pack : Message {      // seqnum is that of the first record; match_info and ext are in the records
  std::uint16_t length = 0;  // of all records with their data
  bool operator==(const Pack&) const = default;
};

struct PackRecord {
  std::uint64_t match_info = 0;
  std::uint16_t length = 0;  // of the data, at most kSmallMax, or kSharedPacketMax
  bool has_ext = false;
  bool packet = false;  // the data are a packet with its own number, without its Ethernet header
  HeaderExt ext;
  bool operator==(const PackRecord&) const = default;
};
inline constexpr std::size_t kPackRecordMax = 12 + kHeaderExtBytes;
inline constexpr std::uint32_t kSharedPacketsMost = 16;  // the most that a receiver reads of one frame
// bytes of the record before a packet; the longest packet
inline constexpr std::uint32_t kPacketRecord = 12, kSharedPacketMax = 256;

struct Medium : Message {
  std::uint32_t length = 0;       // of the whole message
  std::uint16_t frag_length = 0;  // data bytes in this frame
  std::uint8_t frag_seqnum = 0;
  std::uint8_t frag_pipeline = 0;  // mxoe: log2 of the offset unit
  std::uint16_t checksum = 0;
  // omx between extended peers: bytes of a full fragment; 0 = the constant of the mode
  std::uint16_t frag_unit = 0;
  bool operator==(const Medium&) const = default;
};

struct Rndv : Message {
  std::uint32_t msg_length = 0;
  std::uint8_t rdma_id = 0;
  std::uint8_t rdma_seqnum = 0;
  std::uint16_t rdma_offset = 0;
  std::uint16_t checksum = 0;
  // the last bytes of the message, which come with it; only to peers with kFeatureTail
  std::uint16_t tail = 0;
  // With kFlagUnscheduled this many frames follow, each with this many data bytes.
  std::uint16_t unscheduled_unit = 0;
  std::uint8_t unscheduled_frames = 0;
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
  // Data bytes of a full reply, in omx between extended peers. 0 stands for the constant of the mode.
  std::uint16_t reply_max = 0;
  bool operator==(const Pull&) const = default;
};

struct PullReply {
  std::uint8_t src_endpoint = 0;  // F14; means something only from senders with kFeatureSource
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

// Library acknowledgement. Between extended peers a 32-byte bitmap may follow (kFeatureSack). Bit i (byte
// i/8, bit i%8) is set when message number seqnum + 1 + i has arrived completely.
struct Truc {
  std::uint8_t dst_endpoint = 0, src_endpoint = 0, flags = 0;
  std::uint32_t session = 0;
  std::uint16_t seqnum = 0;  // next number expected
  std::uint32_t acknum = 0;
  std::uint16_t send_seq = 0;
  std::uint8_t resent = 0;
  bool has_sack = false;
  std::uint8_t sack[32] = {};
  bool operator==(const Truc&) const = default;
};

struct NackLib {
  std::uint8_t src_endpoint = 0;  // the refusing endpoint
  std::uint8_t dst_endpoint = 0;  // the endpoint that sent the refused packet
  std::uint8_t flags = 0;         // B2
  NackCode code = NackCode::none;
  std::uint16_t peer_index = 0;
  std::uint16_t seqnum = 0;
  bool operator==(const NackLib&) const = default;
};

struct NackMcp {
  std::uint8_t src_endpoint = 0;       // repeats the puller's own number
  std::uint8_t refusing_endpoint = 0;  // means something only from senders with kFeatureSource
  std::uint8_t flags = 0;              // B2
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

// A probe of the path MTU (ours). It is padded with zeros to `size` bytes of frame. The answer has the same
// size.
struct Probe {
  std::uint8_t dst_endpoint = 0, src_endpoint = 0, flags = 0;
  bool is_reply = false;
  std::uint32_t session = 0;  // of the destination
  std::uint32_t size = 0;     // of the whole frame, Ethernet header included
  std::uint32_t cookie = 0;   // repeated in the answer
  bool operator==(const Probe&) const = default;
};

}  // namespace omx::wire
