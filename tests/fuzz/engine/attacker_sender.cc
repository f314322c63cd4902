// SPDX-License-Identifier: BSD-3-Clause
#include "tests/fuzz/engine/attacker_sender.h"

#include <algorithm>

#include "base/bytes.h"
#include "base/crc32c.h"

namespace omx::fuzz {

std::uint16_t AttackerSender::number(std::uint16_t base, std::uint8_t delta) {
  return protocol::seq_add(base,
                           static_cast<std::uint32_t>(static_cast<std::int8_t>(delta)) & protocol::kSeqMask);
}

AttackerSender::Sender AttackerSender::sender_read(Script& script) {
  const std::uint8_t who = script.u8();
  Sender from;
  switch (who & 3) {
    case 0:
    case 1:
      from.nic = kAttackerNic + (who & 1);
      break;
    case 2:
      from.nic = kFloodNic + script.u8();
      break;
    default:
      // Peers without extension block do not name their endpoint in all frames.
      from.confined = scene_.setup.lossless();
      from.nic = scene_.setup.relaxed || from.confined ? kHonestNic : kAttackerNic;
      if (scene_.setup.relaxed) from.endpoint = kHonestEndpoint;
      if (from.confined) from.endpoint = kNeighbourEndpoint;
  }
  if (who & 4) from.endpoint = script.u8();
  if (from.confined && from.endpoint == kHonestEndpoint) from.endpoint = kNeighbourEndpoint;
  if (who & 8) from.to_endpoint = script.u8();
  if (who & 16) from.peer_index = script.u16();
  from.progress = !(who & 32);
  from.peer = scene_.victim.endpoint.find_peer(from.nic, from.endpoint);
  const Peer* p = from.peer;
  from.extended = p && p->agreed.extended;
  from.mode = p ? p->agreed.mode : scene_.setup.victim.mode;
  from.checksum = p && p->agreed.checksum;
  if (who & 64) from.checksum = !from.checksum;
  if (who & 128) from.mode = from.mode == wire::Mode::omx ? wire::Mode::mxoe : wire::Mode::omx;
  return from;
}

std::uint8_t AttackerSender::flags(const Sender& from, std::uint8_t others) const {
  return static_cast<std::uint8_t>(others | (from.checksum ? wire::kFlagChecksum : 0));
}

bool AttackerSender::confine(const Sender& from, Bytes& frame) {
  if (frame.size() < wire::kBulkHeader) frame.resize(wire::kBulkHeader);
  const auto own = std::byte{from.endpoint};
  switch (static_cast<wire::PacketType>(frame[16])) {
    case wire::PacketType::pull_reply:
      frame[14] = own;
      break;
    case wire::PacketType::nack_lib:
      frame[17] = own;
      break;
    case wire::PacketType::nack_mcp:
      frame[20] = own;
      break;
    default:
      if (wire::source_endpoint(frame) < 0) return false;
      frame[18] = own;
  }
  return true;
}

void AttackerSender::transmit_frame(const Sender& from, Bytes frame) {
  if (from.confined && !confine(from, frame)) return;
  if (from.checksum) {
    const std::size_t n = wire::covered_length(frame, from.mode);
    if (n > 12 && n <= frame.size()) {
      frame.resize(std::max(frame.size(), n + wire::kChecksumBytes));
      store_be32(frame.data() + n, crc32c(0, frame.data() + 12, n - 12));
    }
  }
  mac_store(frame.data(), board_nic(kVictimNic, to_board_));
  mac_store(frame.data() + 6, board_nic(from.nic, from_board_));
  if (frame.size() < wire::kMinFrame) frame.resize(wire::kMinFrame);
  // The victim's interface accepts no larger frames.
  if (frame.size() > scene_.state().own_frame) frame.resize(scene_.state().own_frame);
  scene_.attack(frame, from.progress);
}

void AttackerSender::message_fill(const Sender& from, Script& script, wire::Message& m) {
  const std::uint8_t wrong = script.u8();
  const Peer* p = from.peer;
  m.dst_endpoint = from.to_endpoint;
  m.src_endpoint = from.endpoint;
  m.flags = flags(from, wire::kFlagUrgent);
  m.session = wrong & 1 ? script.u32() : kVictimSession;
  m.seqnum = p ? p->counting.next_match : protocol::kSeqFirst;
  if (wrong & 2) m.seqnum = number(m.seqnum, script.u8());
  if (wrong & 4) m.seqnum = script.u16();
  m.piggyack = p ? p->counting.next_send : protocol::kSeqFirst;
  if (wrong & 8) m.piggyack = number(p ? p->counting.next_acked : protocol::kSeqFirst, script.u8());
  if (wrong & 16) m.piggyack = script.u16();
  m.match_info = wrong >> 5 & 3;
  if (wrong & 128) {
    const std::uint8_t more = script.u8();
    if (more & 1) m.match_info = std::uint64_t{script.u32()} << 32 | script.u32();
    if (more & 2) {
      m.flags |= wire::kFlagHeaderExt;
      m.ext = {script.u8(), script.u8(), 0x4142434445464748};
    }
    if (more & 4) m.flags = script.u8();
  }
}

}  // namespace omx::fuzz
