// SPDX-License-Identifier: BSD-3-Clause
#include "tools/broker/kernel/receive_program.h"

#include <arpa/inet.h>

#include <cassert>
#include <utility>

#include "link/packet/packet_filter.h"
#include "tools/broker/kernel/classic_translate.h"
#include "tools/broker/kernel/ebpf_load.h"
#include "tools/broker/kernel/frame_bytes.h"
#include "wire/packets.h"

namespace omx::broker {

namespace {

// The stack: a key for the map, and what the filters read of a frame. The shortest packet has all of it.
constexpr int kKeyAt = -4;
constexpr FrameCopy kCopy = {12, 20, -24};
static_assert(kCopy.first + kCopy.bytes <= kShortestPacket);

// The filters are made for an endpoint whose number, and whose number in a magic, are constants that a filter
// has for nothing else. Comparisons with these use registers instead.
constexpr std::uint8_t kAnyEndpoint = 254;
constexpr std::uint8_t kMagicByte = wire::kPullMagic & 0xFF;
constexpr Placeholder kPlaceholders[] = {{kAnyEndpoint, EbpfCode::r8},
                                         {kAnyEndpoint ^ kMagicByte, EbpfCode::r9}};

link::FilterProgram filter_for(link::FrameClass frames) {
  link::FilterRule filter;
  filter.endpoint = kAnyEndpoint;
  filter.board_frames = false;
  filter.frames = frames;
  return link::packet_filter_build(filter);
}

}  // namespace

Result<OwnFd> classes_make() {
  return ebpf_array_make({"omx_classes", sizeof(Classes), 1, BPF_F_MMAPABLE});
}

EbpfProgram receive_program_build(const GrantMaps& maps, int classes, const ReceiveRule& rule) {
  using link::FrameClass;
  using enum EbpfCode::Register;
  using enum EbpfCode::Size;
  EbpfCode c;
  const auto drop = c.label();
  c.move(r6, r1);
  c.store_stack(word, kKeyAt, static_cast<std::int32_t>(rule.slot));
  c.map(r1, maps.grants.get());
  c.stack_address(r2, kKeyAt);
  c.call(BPF_FUNC_map_lookup_elem);
  c.jump_if(r0, BPF_JEQ, 0, drop);
  c.load(dword, r1, r0, offsetof(Grant, cookie));
  c.move_wide(r2, rule.cookie);
  c.jump_if(r1, BPF_JNE, r2, drop);
  // The holder may have bound the socket to other protocols. The filters look at ours only.
  c.load(word, r1, r6, offsetof(__sk_buff, protocol));
  c.jump_if_word(r1, BPF_JNE, htons(rule.protocol), drop);
  c.load(byte, r8, r0, offsetof(Grant, endpoint));
  c.move(r9, r8);
  c.calculate(BPF_XOR, r9, kMagicByte);
  if (rule.ifindex != 0) {
    c.load(word, r1, r6, offsetof(__sk_buff, ifindex));
    c.jump_if_word(r1, BPF_JNE, rule.ifindex, drop);
  }
  // The user may write the word at any time, so it is read once.
  c.map_value(r1, classes, static_cast<std::uint32_t>(rule.word));
  c.load(word, r7, r1, 0);

  c.move(r1, r6);
  c.move(r2, static_cast<std::int32_t>(kCopy.first));
  c.stack_address(r3, kCopy.at);
  c.move(r4, static_cast<std::int32_t>(kCopy.bytes));
  c.call(BPF_FUNC_skb_load_bytes);
  c.jump_if(r0, BPF_JNE, 0, drop);

  const std::pair<ClassWord, FrameClass> choices[] = {{ClassWord::all, FrameClass::all},
                                                      {ClassWord::eager, FrameClass::eager},
                                                      {ClassWord::bulk, FrameClass::bulk},
                                                      {ClassWord::solicited, FrameClass::solicited}};
  for (const auto& [value, frames] : choices) {
    const auto next = c.label();
    c.jump_if_word(r7, BPF_JNE, static_cast<std::uint32_t>(value), next);
    if (!classic_translate(c, filter_for(frames), kPlaceholders, kCopy)) return {};  // the kernel refuses it
    c.place(next);
  }
  c.place(drop);
  c.exit_with(0);
  return c.take();
}

Result<OwnFd> receive_program_load(const GrantMaps& maps, int classes, const ReceiveRule& rule) {
  assert(rule.cookie != 0);
  return ebpf_load({"omx_receive", BPF_PROG_TYPE_SOCKET_FILTER, {}},
                   receive_program_build(maps, classes, rule));
}

}  // namespace omx::broker
