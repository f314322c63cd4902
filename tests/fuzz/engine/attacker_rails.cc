// SPDX-License-Identifier: BSD-3-Clause
#include "tests/fuzz/engine/attacker_rails.h"

#include <algorithm>

namespace omx::fuzz {

void RailAttacker::rail_way(Script& script) {
  const std::uint8_t way = script.u8();
  to_board_ = (way & 3) % scene_.setup.boards;
  from_board_ = scene_.setup.boards > 1 ? way >> 2 & 3 : 0;
}

void RailAttacker::rail_announce(Script& script) {
  announced_ = script.u8();
  announced_count_ = script.u8();
}

// Fills in two bits for each board: its own, the honest peer's, the victim's, or another's.
void RailAttacker::announcement_fill(const Sender& from, wire::ConnectExt& ext) const {
  if (scene_.setup.boards == 1 || !ext.present || announced_count_ & 128) return;
  ext.features |= wire::kFeatureRails | wire::kFeatureProbe;
  ext.rails.count = static_cast<std::uint8_t>(2 + (announced_count_ & 3) % 3);
  for (unsigned i = 0; i < ext.rails.count; i++) {
    const NicId boards[] = {from.nic, kHonestNic, kVictimNic, kFloodNic + announced_count_};
    ext.rails.nics[i] = board_nic(boards[announced_ >> 2 * i & 3], announced_count_ & 64 ? 0 : i);
  }
}

void RailAttacker::rail_probe(const Sender& from, Script& script) {
  const std::uint8_t wrong = script.u8();
  wire::Probe t;
  t.dst_endpoint = from.to_endpoint;
  t.src_endpoint = from.endpoint;
  t.flags = flags(from, wire::kFlagRail);
  t.session = wrong & 1 ? script.u32() : kVictimSession;
  t.is_reply = !(wrong & 2);
  t.size = scene_.state().own_frame;
  if (from.peer && from.peer->rails) t.cookie = from.peer->rails->paths[to_board_].cookie;
  if (wrong & 4) t.size = std::clamp<std::uint32_t>(script.u32(), wire::kMinFrame, 65549);
  if (wrong & 8) t.cookie = script.u32();
  if (wrong & 16) t.flags = flags(from, script.u8());
  const std::uint32_t frame = wrong & 32 ? script.u16() : std::min<std::uint32_t>(t.size, 65549);
  transmit(
      from, wire::PacketType::probe,
      [&](std::byte* out, const wire::Head& h) { return encode_probe(out, h, t); },
      frame > 48 ? frame - 48 : 0);
}

}  // namespace omx::fuzz
