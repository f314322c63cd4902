// SPDX-License-Identifier: BSD-3-Clause
#include "tools/broker/kernel/classic_translate.h"

#include <cstddef>
#include <vector>

namespace omx::broker {

namespace {

using enum EbpfCode::Register;
using enum EbpfCode::Size;

constexpr auto kPacketKind = static_cast<std::uint32_t>(SKF_AD_OFF + SKF_AD_PKTTYPE);
constexpr auto kInterface = static_cast<std::uint32_t>(SKF_AD_OFF + SKF_AD_IFINDEX);

// The accumulator is r0.
bool load_translate(EbpfCode& code, const sock_filter& line, const FrameCopy& copy) {
  if (BPF_CLASS(line.code) != BPF_LD || BPF_MODE(line.code) != BPF_ABS) return false;
  if (line.k == kPacketKind) {
    code.load(word, r0, r6, offsetof(__sk_buff, pkt_type));
  } else if (line.k == kInterface) {
    code.load(word, r0, r6, offsetof(__sk_buff, ifindex));
  } else if (BPF_SIZE(line.code) == BPF_B && line.k - copy.first < copy.bytes) {
    code.load_stack(byte, r0, copy.at + static_cast<int>(line.k - copy.first));
  } else if (line.k < static_cast<std::uint32_t>(SKF_LL_OFF)) {
    code.load_frame(static_cast<EbpfCode::Size>(BPF_SIZE(line.code)), line.k);
  } else {
    return false;
  }
  return true;
}

bool is_jump(const sock_filter& line) {
  switch (line.code) {
    case BPF_JMP | BPF_K | BPF_JEQ:
    case BPF_JMP | BPF_K | BPF_JGT:
    case BPF_JMP | BPF_K | BPF_JGE:
    case BPF_JMP | BPF_K | BPF_JSET:
      return true;
    default:
      return false;
  }
}

void jump_translate(EbpfCode& code, const sock_filter& line, EbpfCode::Label to,
                    std::span<const Placeholder> placeholders) {
  const auto condition = static_cast<std::uint8_t>(BPF_OP(line.code));
  for (const Placeholder& placeholder : placeholders)
    if (placeholder.value == line.k) return code.jump_if(r0, condition, placeholder.in, to);
  code.jump_if_word(r0, condition, line.k, to);
}

constexpr std::uint16_t kReturn = BPF_RET | BPF_K;

// Returns which lines are ever run. The kernel refuses eBPF with others, and a filter has lines for rules
// that are off. The result is empty if a line leads beyond the end.
std::vector<bool> lines_reached(const link::FilterProgram& filter) {
  std::vector<bool> reached(filter.size());
  if (!filter.empty()) reached[0] = true;
  for (std::size_t i = 0; i < filter.size(); i++) {
    const sock_filter& line = filter[i];
    if (!reached[i] || line.code == kReturn) continue;
    const std::size_t yes = i + 1 + (is_jump(line) ? line.jt : 0), no = i + 1 + (is_jump(line) ? line.jf : 0);
    if (yes >= filter.size() || no >= filter.size()) return {};
    reached[yes] = reached[no] = true;
  }
  return reached;
}

}  // namespace

bool classic_translate(EbpfCode& code, const link::FilterProgram& filter,
                       std::span<const Placeholder> placeholders, const FrameCopy& copy) {
  const std::vector<bool> reached = lines_reached(filter);
  if (reached.empty()) return false;
  std::vector<EbpfCode::Label> labels;
  for (std::size_t i = 0; i < filter.size(); i++) labels.push_back(code.label());
  for (std::size_t i = 0; i < filter.size(); i++) {
    if (!reached[i]) continue;
    const sock_filter& line = filter[i];
    code.place(labels[i]);
    if (is_jump(line)) {
      jump_translate(code, line, labels[i + 1 + line.jt], placeholders);
      if (line.jf != 0) code.jump(labels[i + 1 + line.jf]);
    } else if (line.code == kReturn) {
      code.exit_with(static_cast<std::int32_t>(line.k));
    } else if (!load_translate(code, line, copy)) {
      return false;
    }
  }
  return true;
}

}  // namespace omx::broker
