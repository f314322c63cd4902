// SPDX-License-Identifier: BSD-3-Clause
#include "link/fanout/fanout_program.h"

#include <linux/if_packet.h>
#include <sys/socket.h>

#include <algorithm>
#include <cassert>
#include <cerrno>
#include <span>

#include "wire/packets.h"

namespace omx::link {

namespace {

// A group's program sees a frame from the end of its Ethernet header (docs/spec/wire.md 4, offsets from F0).
constexpr std::uint32_t kTypeAt = 16 - 14;
constexpr std::uint32_t kEndpointAt = 17 - 14;
constexpr std::uint32_t kNackLibEndpointAt = 25 - 14;
constexpr std::uint32_t kMagicLowAt = 31 - 14;
constexpr std::uint32_t kConnectIsReplyAt = 42 - 14;
constexpr std::uint32_t kForBoard = 0;  // scratch word: whether the board gets frames for unknown endpoints

class Writer {
 public:
  void load_byte(std::uint32_t at) { add(BPF_STMT(BPF_LD | BPF_B | BPF_ABS, at)); }
  void add(const sock_filter& line) { program_.push_back(line); }
  void result(std::uint32_t index) { add(BPF_STMT(BPF_RET | BPF_K, index)); }
  // Skips this many lines when the accumulator is (or is not) `value`.
  void skip_if(std::uint32_t value, std::uint8_t lines) {
    add(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, lines, 0));
  }
  void skip_unless(std::uint32_t value, std::uint8_t lines) {
    add(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 0, lines));
  }
  // Adds a jump of any length, whose target is not known yet.
  std::size_t jump() {
    add(BPF_STMT(BPF_JMP | BPF_JA, 0));
    return program_.size() - 1;
  }
  void target_here(std::size_t from) {
    program_[from].k = static_cast<std::uint32_t>(program_.size() - from - 1);
  }
  FilterProgram take() { return std::move(program_); }

 private:
  FilterProgram program_;
};

// Adds a binary search for the endpoint, which the accumulator holds. `unknown_peers` collects the jumps for
// endpoints that are not in the table.
void search(Writer& w, std::span<const FanoutTable::Leaf> leaves, std::vector<std::size_t>& unknown_peers) {
  if (leaves.empty()) return unknown_peers.push_back(w.jump());
  if (leaves.size() == 1) {
    w.skip_unless(leaves[0].endpoint, 1);
    w.result(leaves[0].index);
    return unknown_peers.push_back(w.jump());
  }
  const std::size_t half = leaves.size() / 2;
  // The jump to the upper half may be longer than a conditional jump reaches.
  w.add(BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, leaves[half].endpoint, 0, 1));
  const std::size_t upper = w.jump();
  search(w, leaves.first(half), unknown_peers);
  w.target_here(upper);
  search(w, leaves.subspan(half), unknown_peers);
}

}  // namespace

FilterProgram fanout_program_build(FanoutTable table) {
  using wire::PacketType;
  const auto number = [](PacketType type) { return static_cast<std::uint32_t>(type); };
  std::sort(table.leaves.begin(), table.leaves.end(),
            [](const auto& a, const auto& b) { return a.endpoint < b.endpoint; });
  Writer w;
  std::vector<std::size_t> to_board, to_search, unknown_peers;
  if (table.ifindex > 0) {
    w.add(BPF_STMT(BPF_LD | BPF_W | BPF_ABS, static_cast<std::uint32_t>(SKF_AD_OFF + SKF_AD_IFINDEX)));
    w.skip_if(table.ifindex, 1);
    w.result(0);
  }
  w.add(BPF_STMT(BPF_LD | BPF_IMM, 0));
  w.add(BPF_STMT(BPF_ST, kForBoard));
  w.load_byte(static_cast<std::uint32_t>(SKF_AD_OFF + SKF_AD_PKTTYPE));
  w.add(BPF_JUMP(BPF_JMP | BPF_JGT | BPF_K, PACKET_MULTICAST, 0, 1));
  w.result(0);

  w.load_byte(kTypeAt);
  for (const PacketType type : {PacketType::raw, PacketType::host_query, PacketType::host_reply}) {
    w.skip_unless(number(type), 1);
    to_board.push_back(w.jump());
  }
  w.skip_if(number(PacketType::pull_reply), 1);
  w.skip_unless(number(PacketType::nack_mcp), 3);
  w.load_byte(kMagicLowAt);
  w.add(BPF_STMT(BPF_ALU | BPF_XOR | BPF_K, wire::kPullMagic & 0xFF));
  to_search.push_back(w.jump());
  w.skip_unless(number(PacketType::nack_lib), 2);
  w.load_byte(kNackLibEndpointAt);
  to_search.push_back(w.jump());
  w.skip_unless(number(PacketType::connect), 4);
  w.load_byte(kConnectIsReplyAt);
  w.skip_unless(0, 2);
  w.add(BPF_STMT(BPF_LD | BPF_IMM, 1));
  w.add(BPF_STMT(BPF_ST, kForBoard));
  w.load_byte(kEndpointAt);
  for (const std::size_t from : to_search) w.target_here(from);
  search(w, table.leaves, unknown_peers);

  for (const std::size_t from : unknown_peers) w.target_here(from);
  w.add(BPF_STMT(BPF_LD | BPF_MEM, kForBoard));
  w.skip_unless(0, 1);
  w.result(0);
  for (const std::size_t from : to_board) w.target_here(from);
  if (table.board[1] == 0) {
    w.result(table.board[0]);
    return w.take();
  }
  w.add(BPF_STMT(BPF_LD | BPF_W | BPF_ABS, static_cast<std::uint32_t>(SKF_AD_OFF + SKF_AD_RANDOM)));
  w.add(BPF_STMT(BPF_ALU | BPF_AND | BPF_K, 1));
  w.skip_unless(0, 1);
  w.result(table.board[0]);
  w.result(table.board[1]);
  return w.take();
}

int fanout_program_load(int fd, const FilterProgram& program) {
  FilterProgram code = program;
  const sock_fprog fprog{static_cast<unsigned short>(code.size()), code.data()};
  return ::setsockopt(fd, SOL_PACKET, PACKET_FANOUT_DATA, &fprog, sizeof fprog) < 0 ? errno : 0;
}

}  // namespace omx::link
