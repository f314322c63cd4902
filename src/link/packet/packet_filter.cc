// SPDX-License-Identifier: BSD-3-Clause
#include "link/packet/packet_filter.h"

#include <linux/if_packet.h>
#include <sys/socket.h>

#include <cerrno>
#include <utility>

#include "wire/packets.h"

namespace omx::link {

namespace {

// Offsets from F0 (docs/spec/wire.md 4).
constexpr std::uint32_t kTypeAt = 16;
constexpr std::uint32_t kEndpointAt = 17;         // B1 of endpoint packets
constexpr std::uint32_t kNackLibEndpointAt = 25;  // B9
constexpr std::uint32_t kMagicLowAt = 31;         // low byte of B12..15 in PULL_REPLY and NACK_MCP
constexpr std::uint32_t kConnectIsReplyAt = 42;   // B26
constexpr std::uint32_t kFlagsAt = 19;            // docs/reference/wire.md 6
constexpr std::uint32_t kReplyFlagsAt = 15;       // of PULL_REPLY
constexpr std::uint32_t kWholeFrame = 0xFFFFFFFF;

// One line per instruction: jumps are relative, so the names make them checkable.
enum Line : std::size_t {
  kLoadInterface,
  kTestInterface,
  kLoadPacketKind,
  kTestForUs,
  kLoadType,
  kIsPullReply,
  kIsMedium,
  kIsTruc,
  kIsConnect,
  kIsNackLib,
  kIsNackMcp,
  kIsProbe,
  kIsPack,
  kIsRaw,
  kIsHostQuery,
  kIsHostReply,
  kIsBelowTruc,
  kIsAboveNotify,
  kLoadConnect,
  kTestConnect,
  kLoadFlags,
  kTestFlags,
  kLoadEndpoint,
  kTestEndpoint,
  kLoadNackLib,
  kTestNackLib,
  kLoadReplyFlags,
  kTestReplyFlags,
  kLoadMagic,
  kTestMagic,
  kAccept,
  kDrop,
  kOthers,  // two lines for each endpoint, then the result
  kLineCount
};

constexpr std::uint32_t type_number(wire::PacketType type) {
  return static_cast<std::uint32_t>(type);
}

class Writer {
 public:
  void load_word(Line line, std::uint32_t offset) {
    program_[line] = BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offset);
  }
  void load(Line line, std::uint32_t offset) { program_[line] = BPF_STMT(BPF_LD | BPF_B | BPF_ABS, offset); }
  void test(Line line, std::uint16_t condition, std::uint32_t value, Line yes, Line no) {
    program_[line] = sock_filter{static_cast<std::uint16_t>(BPF_JMP | BPF_K | condition), distance(line, yes),
                                 distance(line, no), value};
  }
  void is_type(Line line, wire::PacketType type, Line yes) {
    test(line, BPF_JEQ, type_number(type), yes, static_cast<Line>(line + 1));
  }
  void result(Line line, std::uint32_t bytes) { program_[line] = BPF_STMT(BPF_RET | BPF_K, bytes); }
  // Drops frames for the endpoints in the list and accepts all others. The accumulator holds the frame's
  // endpoint.
  void all_but(const std::vector<std::uint8_t>& endpoints) {
    program_.pop_back();
    for (const std::uint8_t endpoint : endpoints) {
      program_.push_back(sock_filter{BPF_JMP | BPF_K | BPF_JEQ, 0, 1, endpoint});
      program_.push_back(BPF_STMT(BPF_RET | BPF_K, 0));
    }
    program_.push_back(BPF_STMT(BPF_RET | BPF_K, kWholeFrame));
  }
  FilterProgram take() { return std::move(program_); }

 private:
  static std::uint8_t distance(Line from, Line to) { return static_cast<std::uint8_t>(to - from - 1); }

  FilterProgram program_ = FilterProgram(kLineCount);
};

}  // namespace

FilterProgram packet_filter_build(const FilterRule& rule) {
  using wire::PacketType;
  Writer w;
  w.load_word(kLoadInterface, static_cast<std::uint32_t>(SKF_AD_OFF + SKF_AD_IFINDEX));
  w.test(kTestInterface, BPF_JEQ, rule.ifindex, kLoadPacketKind, kDrop);
  w.load(kLoadPacketKind, static_cast<std::uint32_t>(SKF_AD_OFF + SKF_AD_PKTTYPE));
  // HOST, BROADCAST and MULTICAST are 0..2. OTHERHOST (promiscuous mode) and OUTGOING are above. OUTGOING
  // frames come on kernels before 4.20, which have no PACKET_IGNORE_OUTGOING.
  static_assert(PACKET_HOST == 0 && PACKET_BROADCAST == 1 && PACKET_MULTICAST == 2 && PACKET_OTHERHOST == 3);
  w.test(kTestForUs, BPF_JGT, PACKET_MULTICAST, kDrop, rule.all_frames ? kAccept : kLoadType);

  const Line board = rule.board_frames ? kAccept : kDrop;
  w.load(kLoadType, kTypeAt);
  // The most frequent type comes first.
  const bool solicited = rule.frames == FrameClass::solicited;
  w.test(kIsPullReply, BPF_JEQ, type_number(PacketType::pull_reply),
         rule.frames == FrameClass::eager ? kDrop : (solicited ? kLoadReplyFlags : kLoadMagic),
         rule.frames == FrameClass::bulk ? kDrop : (solicited ? kIsMedium : kIsConnect));
  w.is_type(kIsMedium, PacketType::medium, kLoadFlags);
  w.is_type(kIsTruc, PacketType::truc, kLoadFlags);
  w.is_type(kIsConnect, PacketType::connect, rule.board_frames ? kLoadConnect : kLoadEndpoint);
  w.is_type(kIsNackLib, PacketType::nack_lib, kLoadNackLib);
  w.is_type(kIsNackMcp, PacketType::nack_mcp, kLoadMagic);
  w.is_type(kIsProbe, PacketType::probe, kLoadEndpoint);
  w.is_type(kIsPack, PacketType::pack, kLoadEndpoint);
  w.is_type(kIsRaw, PacketType::raw, board);
  w.is_type(kIsHostQuery, PacketType::host_query, board);
  w.is_type(kIsHostReply, PacketType::host_reply, board);
  // All other types from 35 to 43 have the endpoint in B1.
  w.test(kIsBelowTruc, BPF_JGE, type_number(PacketType::truc), kIsAboveNotify, kDrop);
  w.test(kIsAboveNotify, BPF_JGT, type_number(PacketType::notify), kDrop, kLoadEndpoint);

  // Requests to any endpoint of the board pass, so that those to closed endpoints can be refused.
  w.load(kLoadConnect, kConnectIsReplyAt);
  w.test(kTestConnect, BPF_JEQ, 0, kAccept, kLoadEndpoint);
  // Legacy peers set no flags, so a timer checks for their streams.
  w.load(kLoadFlags, kFlagsAt);
  w.test(kTestFlags, BPF_JSET, wire::kFlagUrgent, kLoadEndpoint, kDrop);
  w.load(kLoadReplyFlags, kReplyFlagsAt);
  w.test(kTestReplyFlags, BPF_JSET, wire::kFlagUrgent, kLoadMagic, kDrop);
  w.load(kLoadEndpoint, kEndpointAt);
  w.test(kTestEndpoint, BPF_JEQ, rule.endpoint, kAccept, rule.closed_ones ? kOthers : kDrop);
  w.load(kLoadNackLib, kNackLibEndpointAt);
  w.test(kTestNackLib, BPF_JEQ, rule.endpoint, kAccept, kDrop);
  w.load(kLoadMagic, kMagicLowAt);
  w.test(kTestMagic, BPF_JEQ, rule.endpoint ^ (wire::kPullMagic & 0xFF), kAccept, kDrop);
  w.result(kAccept, kWholeFrame);
  w.result(kDrop, 0);
  w.result(kOthers, 0);
  if (rule.closed_ones) w.all_but(rule.others);
  FilterProgram program = w.take();
  if (rule.ifindex == 0) program.erase(program.begin(), program.begin() + kLoadPacketKind);
  return program;
}

int packet_filter_attach(int fd, const FilterProgram& program) {
  FilterProgram code = program;  // the kernel interface wants a pointer to non-const
  const sock_fprog fprog{static_cast<unsigned short>(code.size()), code.data()};
  return ::setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &fprog, sizeof fprog) < 0 ? errno : 0;
}

}  // namespace omx::link
