// SPDX-License-Identifier: BSD-3-Clause
// Every decoder on any bytes, in both modes and from both kinds of peer. Packets that decode are encoded
// again and must decode to the same values and data.
#include <algorithm>
#include <cstdint>
#include <cstring>

#include "tests/fuzz/require.h"
#include "tests/wire/wire_util.h"
#include "wire/names.h"

namespace omx::wire::test {
namespace {

struct Case {
  Frame frame;
  Mode mode;
  bool extended;
  Head head;
};

// Returns the head to encode with. Any will do when the ethertype is foreign.
Head head_of(Frame frame) {
  Head head;
  if (decode_head(frame, head) != Drop::none) {
    head = Head{};
    if (frame.size() > 16) head.type = static_cast<PacketType>(frame[16]);
  }
  return head;
}

// Checks that decoded data lie in the frame and end where covered_length() says.
void check_extent(const Case& c, const std::byte* data, std::size_t length) {
  REQUIRE(data >= c.frame.data());
  const auto start = static_cast<std::size_t>(data - c.frame.data());
  REQUIRE(start + length <= c.frame.size());
  if (c.extended) REQUIRE(covered_length(c.frame, c.mode) == start + length);
}

// Returns the same packet as our encoders write it.
Bytes sent_again(const Case& c, Bytes header, Frame data, std::uint8_t flags) {
  const std::size_t covered = header.size() + data.size();
  Bytes frame = whole_frame(std::move(header), data, flags);
  REQUIRE(covered_length(frame, c.mode) == covered);
  REQUIRE(checksum_verify(frame, c.mode) == ((flags & kFlagChecksum) != 0));
  return frame;
}

void check_eager(const Case& c) {
  Eager first, second;
  const std::byte *data = nullptr, *again = nullptr;
  if (decode_eager(c.frame, c.extended, first, &data) != Drop::none) return;
  check_extent(c, data, first.length);
  const Bytes header = encoded([&](std::byte* out) { return encode_eager(out, c.head, first); });
  const Bytes frame = sent_again(c, header, {data, first.length}, first.flags);
  REQUIRE(decode_eager(frame, c.extended, second, &again) == Drop::none);
  REQUIRE(first == second);
  REQUIRE(std::equal(data, data + first.length, again));
}

void check_pack(const Case& c) {
  Pack packet;
  Frame records;
  if (decode_pack(c.frame, packet, records) != Drop::none) return;
  check_extent(c, records.data(), records.size());
  PackRecord first, second;
  const std::byte *data = nullptr, *again = nullptr;
  while (!records.empty() && decode_pack_record(records, first, &data) == Drop::none) {
    REQUIRE(data >= c.frame.data() && data + first.length <= c.frame.data() + c.frame.size());
    Bytes record = encoded([&](std::byte* out) { return encode_pack_record(out, first); });
    record.insert(record.end(), data, data + first.length);
    Frame rest = record;
    REQUIRE(decode_pack_record(rest, second, &again) == Drop::none && rest.empty());
    REQUIRE(first == second);
    REQUIRE(std::equal(data, data + first.length, again));
  }
}

void check_medium(const Case& c) {
  Medium first, second;
  const std::byte *data = nullptr, *again = nullptr;
  if (decode_medium(c.frame, c.mode, c.extended, first, &data) != Drop::none) return;
  check_extent(c, data, first.frag_length);
  const Bytes header = encoded([&](std::byte* out) { return encode_medium(out, c.head, c.mode, first); });
  const Bytes frame = sent_again(c, header, {data, first.frag_length}, first.flags);
  REQUIRE(decode_medium(frame, c.mode, c.extended, second, &again) == Drop::none);
  REQUIRE(first == second);
  REQUIRE(std::equal(data, data + first.frag_length, again));
  const std::uint64_t unit =
      c.mode == Mode::mxoe ? std::uint64_t{1} << first.frag_pipeline : std::uint64_t{first.frag_unit};
  REQUIRE(first.frag_seqnum * unit + first.frag_length <= first.length || unit == 0);
}

void check_pull_reply(const Case& c) {
  PullReply first, second;
  const std::byte *data = nullptr, *again = nullptr;
  if (decode_pull_reply(c.frame, c.extended, first, &data) != Drop::none) return;
  check_extent(c, data, first.frame_length);
  const Bytes header = encoded([&](std::byte* out) { return encode_pull_reply(out, c.head, first); });
  const Bytes frame = sent_again(c, header, {data, first.frame_length}, first.flags);
  REQUIRE(decode_pull_reply(frame, c.extended, second, &again) == Drop::none);
  REQUIRE(first == second);
  REQUIRE(std::equal(data, data + first.frame_length, again));
}

// Decodes, encodes and decodes packets without data.
template <class Packet, class Decode, class Encode>
void check_plain(const Case& c, Decode decode, Encode encode) {
  Packet first, second;
  if (decode(c.frame, first) != Drop::none) return;
  if (c.extended) REQUIRE(covered_length(c.frame, c.mode) != 0);
  const Bytes header = encoded([&](std::byte* out) { return encode(out, first); });
  std::uint8_t flags = 0;
  if constexpr (requires { first.flags; }) flags = first.flags;
  const Bytes frame = sent_again(c, header, {}, flags);
  REQUIRE(decode(frame, second) == Drop::none);
  REQUIRE(first == second);
}

void check_probe(const Case& c) {
  Probe first, second;
  if (decode_probe(c.frame, first) != Drop::none) return;
  REQUIRE(first.size <= c.frame.size());
  Bytes frame = encoded([&](std::byte* out) { return encode_probe(out, c.head, first); });
  frame.resize(first.size);
  REQUIRE(decode_probe(frame, second) == Drop::none);
  REQUIRE(first == second);
}

void check_host_reply(const Case& c) {
  HostReply first, second;
  if (decode_host_reply(c.frame, first) != Drop::none) return;
  const Bytes header = encoded([&](std::byte* out) { return encode_host_reply(out, c.head, first); });
  const Bytes frame = sent_again(c, header, {}, 0);
  REQUIRE(decode_host_reply(frame, second) == Drop::none);
  REQUIRE(first.src_dst_peer_index == second.src_dst_peer_index);
  REQUIRE(first.magic == second.magic);
  REQUIRE(first.name_length == second.name_length);
  REQUIRE(std::strcmp(first.name, second.name) == 0);
}

void check_discovery(const Case& c) {
  NicId first = 0, second = 0;
  std::uint32_t serial = 0, again = 0;
  if (decode_discovery(c.frame, first, serial) != Drop::none) return;
  const Bytes frame = encoded([&](std::byte* out) { return encode_discovery(out, first, serial); });
  REQUIRE(decode_discovery(frame, second, again) == Drop::none);
  REQUIRE(first == second);
  REQUIRE(serial == again);
}

void check_connect(const Case& c) {
  check_plain<Connect>(
      c, [](Frame f, Connect& p) { return decode_connect(f, p); },
      [&](std::byte* out, const Connect& p) { return encode_connect(out, c.head, p); });
}

// Corrects the CRC of an extension block where there is room for one, as a fuzzer does not guess a CRC-32C.
void check_connect_sealed(const Case& c) {
  Bytes frame(c.frame.begin(), c.frame.end());
  if (frame.size() < 76) return;
  const std::size_t crc_at = 48 + load8(frame.data() + 53) - std::size_t{4};
  if (crc_at < 72 || crc_at + 4 > frame.size()) return;
  store_be32(frame.data() + 48, kConnectExtMagic);
  store_be32(frame.data() + crc_at, crc32c(0, frame.data() + 12, crc_at - 12));
  check_connect({frame, c.mode, c.extended, c.head});
}

void check(const Case& c) {
  check_eager(c);
  check_pack(c);
  check_medium(c);
  check_pull_reply(c);
  check_probe(c);
  check_host_reply(c);
  check_discovery(c);
  check_connect(c);
  check_connect_sealed(c);
  const std::byte* tail = nullptr;
  check_plain<Rndv>(
      c, [&](Frame f, Rndv& p) { return decode_rndv(f, c.extended, p, &tail); },
      [&](std::byte* out, const Rndv& p) { return encode_rndv(out, c.head, p, tail); });
  check_plain<Pull>(
      c, [&](Frame f, Pull& p) { return decode_pull(f, c.mode, c.extended, p); },
      [&](std::byte* out, const Pull& p) { return encode_pull(out, c.head, c.mode, p); });
  check_plain<Notify>(
      c, [&](Frame f, Notify& p) { return decode_notify(f, c.extended, p); },
      [&](std::byte* out, const Notify& p) { return encode_notify(out, c.head, p); });
  check_plain<Truc>(
      c, [&](Frame f, Truc& p) { return decode_truc(f, c.extended, p); },
      [&](std::byte* out, const Truc& p) { return encode_truc(out, c.head, p); });
  check_plain<NackLib>(
      c, [&](Frame f, NackLib& p) { return decode_nack_lib(f, c.extended, p); },
      [&](std::byte* out, const NackLib& p) { return encode_nack_lib(out, c.head, p); });
  check_plain<NackMcp>(
      c, [&](Frame f, NackMcp& p) { return decode_nack_mcp(f, c.extended, p); },
      [&](std::byte* out, const NackMcp& p) { return encode_nack_mcp(out, c.head, p); });
  check_plain<HostQuery>(
      c, [](Frame f, HostQuery& p) { return decode_host_query(f, p); },
      [&](std::byte* out, const HostQuery& p) { return encode_host_query(out, c.head, p); });
}

}  // namespace
}  // namespace omx::wire::test

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using namespace omx::wire;
  const Frame frame = std::as_bytes(std::span(bytes, size));
  const Head head = test::head_of(frame);
  for (Mode mode : {Mode::mxoe, Mode::omx}) {
    REQUIRE(covered_length(frame, mode) <= size);
    checksum_verify(frame, mode);
    for (bool extended : {false, true}) test::check({frame, mode, extended, head});
  }
  if (size >= 32) {
    const int endpoint = destination_endpoint(frame);
    REQUIRE(endpoint >= -1);
    REQUIRE(endpoint <= 255);
    frame_flags(frame);
  }
  REQUIRE(packet_type_name(head.type) != nullptr);
  return 0;
}
