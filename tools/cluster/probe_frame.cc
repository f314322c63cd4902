// SPDX-License-Identifier: BSD-3-Clause
#include "tools/cluster/probe_frame.h"

#include <cassert>

#include "base/bytes.h"
#include "base/crc32c.h"
#include "base/mac.h"
#include "base/random.h"
#include "wire/codec.h"
#include "wire/codec_control.h"

namespace omx::tools {

namespace {

constexpr std::uint32_t kMark = 0x4f4d4300;  // "OMC", then the kind
constexpr std::size_t kMarkAt = 48;          // behind PROBE
constexpr std::size_t kSumAt = 52;
constexpr std::size_t kFillAt = 56;
constexpr std::size_t kSourceAt = 6;

std::uint32_t sum_of(wire::Frame frame, std::size_t size) {
  // The Ethernet header is not part of the sum: a switch may not change the rest.
  const std::uint32_t head = crc32c(0, frame.data() + wire::kEthernetHeader, kSumAt - wire::kEthernetHeader);
  return crc32c(head, frame.data() + kFillAt, size - kFillAt);
}

}  // namespace

void probe_encode(const ProbeFrame& probe, std::span<std::byte> out) {
  assert(out.size() >= wire::kMinFrame);
  wire::Probe packet;
  packet.dst_endpoint = probe.to_endpoint;
  packet.src_endpoint = probe.from_endpoint;
  packet.is_reply = probe.is_reply;
  packet.session = probe.token;
  packet.size = static_cast<std::uint32_t>(out.size());
  packet.cookie = probe.number;
  encode_probe(out.data(), {.dst = probe.to, .src = probe.from, .type = wire::PacketType::probe}, packet);
  store_be32(out.data() + kMarkAt, kMark | static_cast<std::uint32_t>(probe.kind));
  random_fill(out.subspan(kFillAt), probe.number);
  store_be32(out.data() + kSumAt, sum_of(out, out.size()));
}

ProbeDrop probe_decode(wire::Frame frame, ProbeFrame& probe) {
  wire::Probe packet;
  const wire::Drop drop = wire::decode_probe(frame, packet);
  if (drop == wire::Drop::bad_type) return ProbeDrop::foreign;
  if (drop != wire::Drop::none || frame.size() < wire::kMinFrame) return ProbeDrop::damaged;
  const std::uint32_t mark = load_be32(frame.data() + kMarkAt);
  if (load_be32(frame.data() + kSumAt) != sum_of(frame, packet.size)) {
    return (mark & ~0xffU) == kMark ? ProbeDrop::damaged : ProbeDrop::foreign;
  }
  if ((mark & ~0xffU) != kMark) return ProbeDrop::foreign;
  probe.from = mac_load(frame.data() + kSourceAt);
  probe.to = mac_load(frame.data());
  probe.to_endpoint = packet.dst_endpoint;
  probe.from_endpoint = packet.src_endpoint;
  probe.kind = static_cast<ProbeKind>(mark & 0xff);
  probe.is_reply = packet.is_reply;
  probe.token = packet.session;
  probe.number = packet.cookie;
  return ProbeDrop::none;
}

}  // namespace omx::tools
