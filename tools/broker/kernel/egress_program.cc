// SPDX-License-Identifier: BSD-3-Clause
#include "tools/broker/kernel/egress_program.h"

#include <arpa/inet.h>
#include <linux/pkt_cls.h>

#include <cstddef>

#include "tools/broker/kernel/ebpf_load.h"
#include "tools/broker/kernel/frame_bytes.h"
#include "wire/packets.h"

namespace omx::broker {

namespace {

using Label = EbpfCode::Label;
using wire::PacketType;
using enum EbpfCode::Register;
using enum EbpfCode::Size;

// The stack: a key for maps, and the first bytes of a frame that cannot be read in place. They lie so that
// the source address is aligned, as the verifier wants it.
constexpr int kKeyAt = -4;
constexpr int kFrameAt = -42;
constexpr std::int32_t kFrameBytes = kShortestPacket;
static_assert((kFrameAt + static_cast<int>(kSourceMacAt)) % 4 == 0);
static_assert(kFrameAt + kFrameBytes <= kKeyAt);

// Registers that are kept: r6 context, later the user's rate; r7 grant; r8 counters; r9 length of the frame.
// r5 holds the address of the frame until the next call.
class Builder {
 public:
  Builder(const GrantMaps& maps, Unmarked unmarked) : maps_(maps), unmarked_(unmarked) {}

  EbpfProgram build() {
    grant_find();
    frame_find();
    bytes_check();
    endpoint_check();
    rate_check();
    c_.place(count_);
    c_.move(r1, 1);
    add(offsetof(GrantCounters, frames), r1);
    add(offsetof(GrantCounters, bytes), r9);
    c_.place(pass_);
    c_.exit_with(TC_ACT_UNSPEC);
    refusal(bad_type_, offsetof(GrantCounters, bad_type));
    refusal(bad_source_, offsetof(GrantCounters, bad_source));
    refusal(bad_endpoint_, offsetof(GrantCounters, bad_endpoint));
    refusal(bad_size_, offsetof(GrantCounters, bad_size));
    refusal(too_fast_, offsetof(GrantCounters, too_fast));
    refusal(revoked_, offsetof(GrantCounters, revoked));
    c_.place(drop_);
    c_.exit_with(TC_ACT_SHOT);
    return c_.take();
  }

 private:
  // Not atomic, which would cost 5 ns each for every frame: threads that send by one socket at once may lose
  // a count.
  void add(std::size_t counter, EbpfCode::Register value) {
    c_.load(dword, r2, r8, counter);
    c_.calculate(BPF_ADD, r2, value);
    c_.store(dword, r8, counter, r2);
  }

  // Looks up the value whose key is on the stack.
  void look_up(const OwnFd& map) {
    c_.map(r1, map.get());
    c_.stack_address(r2, kKeyAt);
    c_.call(BPF_FUNC_map_lookup_elem);
  }

  void grant_find() {
    c_.move(r6, r1);
    c_.load(word, r2, r6, offsetof(__sk_buff, mark));
    c_.move(r3, r2);
    c_.and_word(r3, kMarkMask);
    c_.jump_if_word(r3, BPF_JNE, kMarkMagic, unmarked_ == Unmarked::drop ? drop_ : pass_);
    c_.and_word(r2, ~kMarkMask);
    c_.store_stack(word, kKeyAt, r2);
    // The program at the NIC examines only what has avoided the one at the macvlan.
    c_.move(r1, 0);
    c_.store(word, r6, offsetof(__sk_buff, mark), r1);
    look_up(maps_.counts);
    c_.jump_if(r0, BPF_JEQ, 0, drop_);
    c_.move(r8, r0);
    look_up(maps_.grants);
    c_.jump_if(r0, BPF_JEQ, 0, drop_);
    c_.move(r7, r0);
    c_.move(r1, r6);
    c_.call(BPF_FUNC_get_socket_cookie);
    c_.load(dword, r1, r7, offsetof(Grant, cookie));
    // A frame without a socket has the cookie 0, as a slot without a grant has.
    c_.jump_if(r1, BPF_JEQ, 0, revoked_);
    c_.jump_if(r0, BPF_JNE, r1, revoked_);
  }

  void frame_find() {
    const Label found = c_.label();
    c_.load(word, r9, r6, offsetof(__sk_buff, len));
    c_.load(word, r5, r6, offsetof(__sk_buff, data));
    c_.load(word, r2, r6, offsetof(__sk_buff, data_end));
    c_.move(r1, r5);
    c_.calculate(BPF_ADD, r1, kFrameBytes);
    c_.jump_if(r1, BPF_JLE, r2, found);
    // Most of a large frame lies in pages. The call fails for a frame that is too short.
    c_.move(r1, r6);
    c_.move(r2, 0);
    c_.stack_address(r3, kFrameAt);
    c_.move(r4, kFrameBytes);
    c_.call(BPF_FUNC_skb_load_bytes);
    c_.jump_if(r0, BPF_JNE, 0, bad_size_);
    c_.stack_address(r5, kFrameAt);
    c_.place(found);
  }

  void bytes_check() {
    // The sender may name another protocol to the kernel than the frame has, for what runs behind us.
    c_.load(word, r1, r6, offsetof(__sk_buff, protocol));
    c_.jump_if_word(r1, BPF_JNE, htons(wire::kEthertype), bad_type_);
    c_.load(half, r1, r5, kEthertypeAt);
    c_.jump_if_word(r1, BPF_JNE, htons(wire::kEthertype), bad_type_);

    c_.load(word, r1, r5, kSourceMacAt);
    c_.load(word, r2, r7, offsetof(Grant, mac));
    c_.jump_if(r1, BPF_JNE, r2, bad_source_);
    c_.load(half, r1, r5, kSourceMacAt + 4);
    c_.load(half, r2, r7, offsetof(Grant, mac) + 4);
    c_.jump_if(r1, BPF_JNE, r2, bad_source_);

    c_.load(word, r1, r7, offsetof(Grant, max_frame));
    c_.jump_if(r9, BPF_JGT, r1, bad_size_);
  }

  void is_type(PacketType type, Label then) {
    c_.jump_if_word(r1, BPF_JEQ, static_cast<std::uint32_t>(type), then);
  }

  void endpoint_check() {
    const Label at_most = c_.label(), at_reply = c_.label(), at_lib = c_.label(), at_mcp = c_.label(),
                compare = c_.label();
    c_.load(byte, r1, r5, kTypeAt);
    is_type(PacketType::pull_reply, at_reply);
    is_type(PacketType::nack_lib, at_lib);
    is_type(PacketType::nack_mcp, at_mcp);
    is_type(PacketType::probe, at_most);
    is_type(PacketType::pack, at_most);
    // Host queries and raw frames are below: only the broker speaks for the board.
    c_.jump_if_word(r1, BPF_JLT, static_cast<std::uint32_t>(PacketType::truc), bad_type_);
    c_.jump_if_word(r1, BPF_JGT, static_cast<std::uint32_t>(PacketType::notify), bad_type_);
    const std::pair<Label, std::uint32_t> places[] = {{at_most, kSourceAt},
                                                      {at_reply, kPullReplySourceAt},
                                                      {at_lib, kNackLibSourceAt},
                                                      {at_mcp, kNackMcpSourceAt}};
    for (const auto& [label, at] : places) {
      c_.place(label);
      c_.load(byte, r2, r5, at);
      c_.jump(compare);
    }
    c_.place(compare);
    c_.load(byte, r1, r7, offsetof(Grant, endpoint));
    c_.jump_if(r1, BPF_JNE, r2, bad_endpoint_);
  }

  // Sockets of one user may send on several processors at once, so all changes are atomic. None is lost when
  // the first frame after a pause brings next_ns up to date.
  void rate_check() {
    const Label charge = c_.label();
    c_.load(word, r1, r7, offsetof(Grant, user));
    c_.jump_if(r1, BPF_JEQ, 0, count_);
    c_.store_stack(word, kKeyAt, r1);
    look_up(maps_.users);
    c_.jump_if(r0, BPF_JEQ, 0, too_fast_);
    c_.move(r6, r0);
    c_.call(BPF_FUNC_ktime_get_ns);
    c_.load(dword, r1, r6, offsetof(UserRate, next_ns));
    c_.load(dword, r2, r6, offsetof(UserRate, burst_ns));
    c_.calculate(BPF_ADD, r2, r0);
    c_.jump_if(r1, BPF_JGT, r2, too_fast_);
    c_.jump_if(r1, BPF_JGE, r0, charge);
    c_.move(r2, r0);
    c_.move(r0, r1);
    c_.compare_exchange(r6, offsetof(UserRate, next_ns), r2);
    c_.place(charge);
    c_.load(dword, r1, r6, offsetof(UserRate, ns_per_kib));
    c_.calculate(BPF_MUL, r1, r9);
    c_.calculate(BPF_RSH, r1, 10);
    c_.atomic_add(r6, offsetof(UserRate, next_ns), r1);
  }

  void refusal(Label label, std::size_t counter) {
    c_.place(label);
    c_.move(r1, 1);
    c_.atomic_add(r8, counter, r1);
    c_.jump(drop_);
  }

  const GrantMaps& maps_;
  const Unmarked unmarked_;
  EbpfCode c_;
  Label pass_ = c_.label(), drop_ = c_.label(), count_ = c_.label(), bad_type_ = c_.label(),
        bad_source_ = c_.label(), bad_endpoint_ = c_.label(), bad_size_ = c_.label(), too_fast_ = c_.label(),
        revoked_ = c_.label();
};

}  // namespace

EbpfProgram egress_program_build(const GrantMaps& maps, Unmarked unmarked) {
  return Builder(maps, unmarked).build();
}

Result<OwnFd> egress_program_load(const GrantMaps& maps, Unmarked unmarked) {
  return ebpf_load({kEgressName, BPF_PROG_TYPE_SCHED_CLS, {}}, egress_program_build(maps, unmarked));
}

}  // namespace omx::broker
