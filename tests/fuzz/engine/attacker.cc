// SPDX-License-Identifier: BSD-3-Clause
#include "tests/fuzz/engine/attacker.h"

#include <algorithm>

#include "base/bytes.h"
#include "base/crc32c.h"

namespace omx::fuzz {

namespace {

using protocol::seq_add;

constexpr std::uint8_t kSizeMost = 255;
constexpr std::size_t kEagerLength = 20;

}  // namespace

void Attacker::connect(const Sender& from, Script& script, bool reply) {
  const std::uint8_t wrong = script.u8();
  const Peer* p = from.peer;
  wire::Connect c;
  c.dst_endpoint = from.to_endpoint;
  c.src_endpoint = from.endpoint;
  c.src_dst_peer_index = 0;
  c.is_reply = reply;
  const std::uint32_t session = 0x50000000 + (wrong & 1 ? script.u8() : 0);
  c.src_session = reply ? kVictimSession : session;
  c.key_or_target_session = reply ? session : kKey;
  c.target_recv_seqnum_start = p && p->connected() ? p->counting.next_send : protocol::kSeqFirst;
  c.ext.present = scene_.setup.attacker_extended;
  c.ext.mode = scene_.setup.victim.mode;
  c.ext.features = 31;
  c.ext.max_frame = 9014;
  c.ext.pull_frames = 32;
  c.ext.eager_frames = 256;
  c.ext.generation = p && p->counting.peer_generation ? p->counting.peer_generation : 77;
  c.ext.peer_generation = p ? p->counting.generation : 0;
  c.ext.peer_generation_in_use = p;
  if (reply && p) {
    protocol::Request* r = const_cast<Peer*>(p)->tx.connects.front();
    c.connect_seqnum = p->liveness.ping_pending || !r ? p->liveness.ping_seqnum : r->connect_seqnum;
  }
  if (wrong & 2) c.target_recv_seqnum_start = script.u16();
  if (wrong & 4) c.key_or_target_session = script.u32();
  if (wrong & 8) {
    c.ext.generation += static_cast<std::uint32_t>(static_cast<std::int8_t>(script.u8()));
    c.ext.peer_generation += static_cast<std::uint32_t>(static_cast<std::int8_t>(script.u8()));
    c.ext.peer_generation_in_use = script.u8() & 1;
  }
  if (wrong & 16) {
    const std::uint8_t more = script.u8();
    if (more & 1) c.ext.max_frame = script.u32();
    if (more & 2) c.ext.pull_frames = script.u8();
    if (more & 4) c.ext.eager_frames = script.u16();
    if (more & 8) c.ext.features = script.u8();
    // Announces its own bulk path, the honest peer's, or another one.
    c.ext.bulk_address = bulk_of(c.ext.features & 1   ? kHonestNic
                                 : c.ext.features & 2 ? kAttackerNic
                                                      : c.ext.generation);
    if (more & 16) c.ext.mode = static_cast<wire::Mode>(script.u8());
    if (more & 32) c.status = script.u8();
    if (more & 64) c.connect_seqnum = script.u8();
    if (more & 128) c.src_session = script.u32();
  }
  if (wrong & 32) c.ext.present = !c.ext.present;
  announcement_fill(from, c.ext);
  c.ext.generation &= wire::kCountGenerationMask;
  c.ext.peer_generation &= wire::kCountGenerationMask;
  Sender plain = from;
  plain.checksum = false;
  transmit(plain, wire::PacketType::connect,
           [&](std::byte* out, const wire::Head& h) { return encode_connect(out, h, c); });
}

void Attacker::eager(const Sender& from, Script& script) {
  wire::Eager m;
  message_fill(from, script, m);
  const std::uint8_t size = script.u8();
  const std::uint16_t said = size == kSizeMost ? script.u16() : std::min<std::uint8_t>(size, wire::kSmallMax);
  m.length = std::min<std::uint16_t>(said, wire::kSmallMax);
  const auto type = m.length <= wire::kTinyMax ? wire::PacketType::tiny : wire::PacketType::small;
  const auto encode = [&](std::byte* out, const wire::Head& h) {
    const std::size_t n = encode_eager(out, h, m);
    store_be16(out + kEagerLength, said);  // a value that the encoder would refuse
    return n;
  };
  transmit(from, type, encode, said);
}

void Attacker::pack(const Sender& from, Script& script) {
  wire::Pack packet;
  message_fill(from, script, packet);
  const std::uint8_t count = script.u8() & 7;
  std::byte records[8 * (wire::kPackRecordMax + 44)];
  std::size_t length = 0;
  for (std::uint8_t i = 0; i <= count; i++) {
    const std::uint8_t how = script.u8();
    wire::PackRecord record;
    record.match_info = packet.match_info + i;
    record.has_ext = how & 0x80;
    record.ext.message_class = how & 3;
    std::byte* at = records + length;
    length += encode_pack_record(at, record);
    if (how & 0x40) store8(at + 9, script.u8());  // data that may not be there
    if (how & 0x20) store8(at + 10, 8);           // a packet: what follows, or its own head
    if ((how & 0x30) == 0x30 && length + 64 <= sizeof records) {
      store8(at + 9, 44);
      for (std::size_t b = 0; b < 44; b++)
        store8(at + 12 + b, b == 2 ? 35 + (how & 15U) : b == 3 ? kVictimEndpoint : script.u8());
      length += 44;
    }
  }
  const auto said = count == 7 ? script.u16() : static_cast<std::uint16_t>(length);
  packet.length = said;
  std::byte buffer[wire::kHeaderCapacity] = {};
  const wire::Head head{kVictimNic, from.nic, from.peer_index, wire::PacketType::pack};
  Bytes frame(buffer, buffer + encode_pack(buffer, head, packet));
  frame.insert(frame.end(), records, records + length);
  transmit_frame(from, std::move(frame));
}

void Attacker::medium(const Sender& from, Script& script) {
  wire::Medium m;
  message_fill(from, script, m);
  const std::uint8_t how = script.u8();
  m.length = kLengths[how & 15];
  if (how & 16) m.length = script.u32();
  std::uint32_t unit = 1024;
  m.frag_unit = 1024;
  m.frag_pipeline = 10;
  if (how & 32) {
    m.frag_unit = script.u16();
    m.frag_pipeline = script.u8();
    unit = from.mode == wire::Mode::mxoe ? 1U << (m.frag_pipeline & 31) : m.frag_unit;
  }
  if (!from.extended && from.mode == wire::Mode::omx) {
    unit = wire::legacy_sizes(from.mode, scene_.setup.victim.mtu).medium_frag;
    m.frag_unit = 0;
  }
  if (unit == 0) unit = 1;
  const std::uint64_t fragments = (std::uint64_t{m.length} + unit - 1) / unit;
  std::uint64_t first = 0, last = fragments;  // all of them ...
  if (how & 64) {                             // ... or one
    first = script.u8();
    last = first + 1;
  }
  if (from.mode == wire::Mode::mxoe) m.length &= 0xFFFF;
  const bool odd = how & 128;
  const std::uint16_t odd_length = odd ? script.u16() : 0;
  const std::uint16_t number_of_message = m.seqnum;
  for (std::uint64_t i = first; i < std::min(last, first + 64); i++) {
    const std::uint64_t offset = i * unit;
    const std::uint64_t left = m.length > offset ? m.length - offset : 0;
    m.seqnum = number_of_message;
    m.frag_seqnum = static_cast<std::uint8_t>(i);
    m.frag_length = odd ? odd_length : static_cast<std::uint16_t>(std::min<std::uint64_t>(left, unit));
    transmit(
        from, wire::PacketType::medium,
        [&](std::byte* out, const wire::Head& h) { return encode_medium(out, h, from.mode, m); },
        m.frag_length);
  }
}

void Attacker::truc(const Sender& from, Script& script) {
  const std::uint8_t wrong = script.u8();
  const Peer* p = from.peer;
  wire::Truc t;
  t.dst_endpoint = from.to_endpoint;
  t.src_endpoint = from.endpoint;
  t.flags = flags(from, 0);
  t.session = wrong & 1 ? script.u32() : kVictimSession;
  t.seqnum = p ? p->counting.next_send : protocol::kSeqFirst;
  if (wrong & 2) t.seqnum = number(p ? p->counting.next_acked : protocol::kSeqFirst, script.u8());
  if (wrong & 4) t.seqnum = script.u16();
  t.acknum = (p ? p->counting.recv_acknum : 0) + 1;
  if (wrong & 8) t.acknum = script.u32();
  if (wrong & 16) {
    t.has_sack = true;
    t.seqnum = p ? p->counting.next_acked : t.seqnum;
    for (std::uint8_t n = script.u8() & 31, i = 0; i <= n; i++) t.sack[i] = script.u8();
  }
  t.send_seq = t.seqnum;
  transmit(from, wire::PacketType::truc,
           [&](std::byte* out, const wire::Head& h) { return encode_truc(out, h, t); });
}

void Attacker::nack_lib(const Sender& from, Script& script) {
  const std::uint8_t wrong = script.u8();
  wire::NackLib n;
  n.src_endpoint = from.endpoint;
  n.dst_endpoint = from.to_endpoint;
  n.flags = flags(from, 0);
  n.code = static_cast<wire::NackCode>((wrong & 3) + 1);
  if (wrong & 4) n.code = static_cast<wire::NackCode>(script.u8());
  const Request* r = from.peer && !(wrong & 8) ? from.peer->tx.unacked.front() : nullptr;
  n.seqnum = r ? r->seqnum : 0;
  if (wrong & 16) n.seqnum = script.u16();
  transmit(from, wire::PacketType::nack_lib,
           [&](std::byte* out, const wire::Head& h) { return encode_nack_lib(out, h, n); });
}

void Attacker::probe(const Sender& from, Script& script) {
  const std::uint8_t wrong = script.u8();
  wire::Probe t;
  t.dst_endpoint = from.to_endpoint;
  t.src_endpoint = from.endpoint;
  t.flags = flags(from, 0);
  t.session = wrong & 1 ? script.u32() : kVictimSession;
  t.is_reply = wrong & 2;
  t.size = from.peer && from.peer->liveness.probe_size && t.is_reply ? from.peer->liveness.probe_size : 1514;
  if (wrong & 4) t.size = std::clamp<std::uint32_t>(script.u32(), wire::kMinFrame, 65549);
  const std::uint32_t frame = wrong & 8 ? script.u16() : std::min<std::uint32_t>(t.size, 65549);
  transmit(
      from, wire::PacketType::probe,
      [&](std::byte* out, const wire::Head& h) { return encode_probe(out, h, t); },
      frame > 48 ? frame - 48 : 0);
}

void Attacker::raw(const Sender& from, Script& script) {
  const std::uint8_t n = script.u8();
  Bytes frame(16);
  mac_store(frame.data(), kVictimNic);
  mac_store(frame.data() + 6, from.nic);
  store_be16(frame.data() + 12, wire::kEthertype);
  const Bytes rest = script.take(n);
  frame.insert(frame.end(), rest.begin(), rest.end());
  Sender plain = from;
  plain.checksum = from.checksum && frame.size() >= 32;
  transmit_frame(plain, std::move(frame));
}

// Repeats a frame that was seen on the segment, with some bytes changed.
void Attacker::replay(const Sender& from, Script& script) {
  const std::uint8_t which = script.u8(), edits = script.u8();
  if (scene_.seen.empty()) return;
  Bytes frame = scene_.seen[which % scene_.seen.size()];
  mac_store(frame.data(), kVictimNic);
  mac_store(frame.data() + 6, from.nic);
  for (std::uint8_t i = 0; i < (edits & 7); i++) {
    const std::uint8_t at = script.u8(), value = script.u8();
    if (at < frame.size() && at >= 12) frame[at] = static_cast<std::byte>(value);
  }
  if (edits & 8) {
    const std::uint8_t at = script.u8();
    if (at >= 12 && at + 4U <= frame.size()) store_be32(frame.data() + at, kVictimSession);
  }
  if (edits & 16) frame[17] = static_cast<std::byte>(kVictimEndpoint);
  if (edits & 32) frame[18] = static_cast<std::byte>(from.endpoint);
  if (edits & 64) frame.resize(std::max<std::size_t>(17, std::min<std::size_t>(frame.size(), script.u8())));
  transmit_frame(from, std::move(frame));
}

// Lets many unknown peers connect, each of which sends a message that is reordered or in order.
void Attacker::flood(Script& script) {
  const std::uint8_t count = script.u8(), how = script.u8();
  for (unsigned i = 0; i < std::min<unsigned>(count, 66); i++) {
    const std::uint8_t bytes[] = {
        2, static_cast<std::uint8_t>(i), static_cast<std::uint8_t>(how & 32), 0, 0, 0, 0, 0};
    Script hello(bytes);
    const Sender unknown_peer = sender_read(hello);
    connect(unknown_peer, hello, false);
    Script again(bytes);
    const Sender known = sender_read(again);
    const std::uint8_t message[] = {static_cast<std::uint8_t>(how & 2),
                                    static_cast<std::uint8_t>(how & 2 ? 2 : how),
                                    static_cast<std::uint8_t>(how),
                                    0,
                                    0,
                                    0};
    Script words(message);
    if (how & 4)
      medium(known, words);
    else if (how & 8)
      rndv(known, words);
    else
      eager(known, words);
  }
}

void Attacker::play(Step step, Script& script) {
  if (step == Step::flood) return flood(script);
  if (step == Step::rail_way) return rail_way(script);
  if (step == Step::rail_announce) return rail_announce(script);
  const Sender from = sender_read(script);
  switch (step) {
    case Step::connect_request:
    case Step::connect_reply:
      return connect(from, script, step == Step::connect_reply);
    case Step::eager:
      return eager(from, script);
    case Step::pack:
      return pack(from, script);
    case Step::medium:
      return medium(from, script);
    case Step::rndv:
      return rndv(from, script);
    case Step::pull:
      return pull(from, script);
    case Step::pull_reply:
      return pull_reply(from, script);
    case Step::notify:
      return notify(from, script);
    case Step::truc:
      return truc(from, script);
    case Step::nack_lib:
      return nack_lib(from, script);
    case Step::nack_mcp:
      return nack_mcp(from, script);
    case Step::mtu_probe:
      return probe(from, script);
    case Step::rail_probe:
      return rail_probe(from, script);
    case Step::raw:
      return raw(from, script);
    case Step::replay:
      return replay(from, script);
    default:
      return;
  }
}

}  // namespace omx::fuzz
