// SPDX-License-Identifier: BSD-3-Clause
#include "tests/fuzz/engine/attacker_large.h"

#include <algorithm>

namespace omx::fuzz {

namespace {

// Returns where a frame begins, as pull.cc computes it.
std::uint64_t frame_start(const protocol::Pull& pull, std::uint64_t index) {
  return index == 0 ? 0 : index * pull.unit - pull.shift;
}
std::uint64_t frame_end(const protocol::Pull& pull, std::uint64_t index) {
  return std::min<std::uint64_t>((index + 1) * pull.unit - pull.shift, pull.length);
}

}  // namespace

const Request* LargeAttacker::region_pick(const Sender& from, std::uint8_t n, bool anybody) const {
  std::vector<const Request*> owned;
  scene_.state().regions.each_owner([&](const Request& r) {
    if (anybody || r.peer == from.peer) owned.push_back(&r);
  });
  return owned.empty() ? nullptr : owned[n % owned.size()];
}

protocol::Pull* LargeAttacker::pull_pick(const Sender& from, std::uint8_t n, bool anybody) const {
  std::vector<protocol::Pull*> running;
  auto& list = scene_.state().transfers.pull_list;
  for (protocol::Pull* p = list.front(); p; p = list.next(*p))
    if (anybody || p->peer == from.peer) running.push_back(p);
  return running.empty() ? nullptr : running[n % running.size()];
}

void LargeAttacker::rndv(const Sender& from, Script& script) {
  wire::Rndv m;
  message_fill(from, script, m);
  const std::uint8_t how = script.u8();
  m.msg_length = how & 16 ? script.u32() : kLengths[how & 15];
  m.rdma_id = how & 32 ? script.u8() : 5;
  m.rdma_seqnum = how & 64 ? script.u8() : 9;
  m.rdma_offset = how & 128 ? script.u16() : 0;
  const std::byte tail[wire::kRndvTailMost] = {};
  m.tail = m.rdma_offset % 7 == 1 ? m.rdma_offset % wire::kRndvTailMost : 0;
  if (m.rdma_offset % 3 == 1) {  // announces unscheduled data, which may follow
    m.flags |= wire::kFlagUnscheduled;
    m.unscheduled_frames = static_cast<std::uint8_t>(m.rdma_offset >> 8);
    const std::uint32_t unit = from.peer ? from.peer->agreed.sizes.pull_reply_max : 1024;
    m.unscheduled_unit = static_cast<std::uint16_t>(m.rdma_offset & 64 ? m.rdma_offset : unit);
    if (m.rdma_offset & 32) m.rdma_offset = 0;
  }
  transmit(from, wire::PacketType::rndv,
           [&](std::byte* out, const wire::Head& h) { return encode_rndv(out, h, m, tail); });
}

void LargeAttacker::pull(const Sender& from, Script& script) {
  const std::uint8_t wrong = script.u8(), which = script.u8();
  const Request* r = region_pick(from, which & 15, which & 16);
  wire::Pull p;
  p.dst_endpoint = from.to_endpoint;
  p.src_endpoint = from.endpoint;
  p.flags = flags(from, which & 32 ? wire::kFlagGap : 0);
  p.session = wrong & 1 ? script.u32() : kVictimSession;
  p.rdma_id = r ? r->region : 0;
  p.rdma_seqnum = r ? r->region_generation : 0;
  p.total_length = r ? r->msg_length : 0;
  p.pull_handle = 0x400023 + (which & 64 ? script.u8() : 0);
  p.magic = wire::kPullMagic ^ from.endpoint;
  p.block_length = std::min<std::uint32_t>(p.total_length, 20000);
  p.reply_max = from.extended && from.mode == wire::Mode::omx ? 1024 : 0;
  if (wrong & 2) p.rdma_id = script.u32();
  if (wrong & 4) p.rdma_seqnum = script.u8();
  if (wrong & 8) p.rdma_offset = script.u32();
  if (wrong & 16) p.first_frame_offset = script.u16();
  if (wrong & 32) p.block_length = script.u32();
  if (wrong & 64) p.frame_index = which & 128 ? script.u32() : script.u8();
  if (wrong & 128) p.reply_max = script.u16();
  if (from.mode == wire::Mode::mxoe) {  // its fields are narrower
    p.rdma_id &= 0xFF;
    p.rdma_offset &= 0xFFFF;
    p.block_length &= 0xFFFF;
  }
  transmit(from, wire::PacketType::pull,
           [&](std::byte* out, const wire::Head& h) { return encode_pull(out, h, from.mode, p); });
}

void LargeAttacker::pull_reply(const Sender& from, Script& script) {
  const std::uint8_t wrong = script.u8(), which = script.u8();
  const std::uint8_t skip = script.u8();
  protocol::Pull* const pull = pull_pick(from, which & 15, which & 16);
  Sender plain = from;
  plain.peer_index = 0;
  wire::PullReply p;
  p.flags = flags(from, wire::kFlagUrgent);
  p.pull_handle = pull ? pull->handle : 0;
  p.magic = wire::kPullMagic ^ kVictimEndpoint;
  std::uint32_t first = pull ? pull->block(0).first : 0, last = pull ? pull->next_frame : 1;
  if (which & 32) {  // a single frame
    first += script.u8();
    last = first + 1;
  }
  const std::uint32_t handle = pull ? pull->handle : 0;
  if (wrong & 32 && pull) {
    p.pull_handle = pull->unscheduled_key;
    p.magic = wire::unscheduled_magic(kVictimEndpoint, pull->peer->endpoint);
  }
  if (wrong & 1) p.pull_handle = script.u32();
  if (wrong & 2) p.magic = script.u32();
  for (std::uint32_t i = first; i < std::min(last, first + 256); i++) {
    if (which & 64 && i > first && (skip >> (i & 7) & 1)) continue;  // leaves holes
    if (pull_pick(from, which & 15, which & 16) != pull || (pull && pull->handle != handle))
      break;  // it has ended
    p.frame_seqnum = static_cast<std::uint8_t>(i);
    p.msg_offset = pull ? static_cast<std::uint32_t>(frame_start(*pull, i)) : 0;
    p.frame_length = pull && i < pull->frames
                         ? static_cast<std::uint16_t>(frame_end(*pull, i) - frame_start(*pull, i))
                         : 1;
    if (wrong & 4) p.msg_offset = script.u32();
    if (wrong & 8) p.frame_length = script.u16();
    if (wrong & 16) p.frame_seqnum = script.u8();
    p.frame_length = std::max<std::uint16_t>(p.frame_length, 1);
    transmit(
        plain, wire::PacketType::pull_reply,
        [&](std::byte* out, const wire::Head& h) { return encode_pull_reply(out, h, p); }, p.frame_length);
  }
}

void LargeAttacker::notify(const Sender& from, Script& script) {
  const std::uint8_t which = script.u8();
  wire::Message m;
  message_fill(from, script, m);
  const Request* r = region_pick(from, which & 15, which & 16);
  wire::Notify n;
  n.dst_endpoint = m.dst_endpoint;
  n.src_endpoint = m.src_endpoint;
  n.flags = m.flags & static_cast<std::uint8_t>(~wire::kFlagHeaderExt);
  n.session = m.session;
  n.seqnum = m.seqnum;
  n.piggyack = m.piggyack;
  n.rdma_id = which & 32 ? script.u8() : r ? r->region : 0;
  n.rdma_seqnum = which & 64 ? script.u8() : r ? r->region_generation : 0;
  n.total_length = which & 128 ? script.u32() : r ? r->msg_length : 0;
  transmit(from, wire::PacketType::notify,
           [&](std::byte* out, const wire::Head& h) { return encode_notify(out, h, n); });
}

void LargeAttacker::nack_mcp(const Sender& from, Script& script) {
  const std::uint8_t which = script.u8();
  const protocol::Pull* pull = pull_pick(from, which & 15, which & 16);
  wire::NackMcp n;
  n.src_endpoint = kVictimEndpoint;
  n.flags = flags(from, 0);
  n.code = static_cast<wire::NackCode>(which & 32 ? script.u8() : 4);
  n.pull_handle = which & 64 ? script.u32() : pull ? pull->handle : 0;
  n.magic = which & 128 ? script.u32() : wire::kPullMagic ^ kVictimEndpoint;
  transmit(from, wire::PacketType::nack_mcp,
           [&](std::byte* out, const wire::Head& h) { return encode_nack_mcp(out, h, n); });
}

}  // namespace omx::fuzz
