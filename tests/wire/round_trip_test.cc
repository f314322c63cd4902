// SPDX-License-Identifier: BSD-3-Clause
// Random packets of every type go through encoder and decoder. They arrive as sent at an extended peer. Other
// peers do not read what only extended peers read.
#include <gtest/gtest.h>

#include "wire_util.h"

namespace omx::wire::test {
namespace {

constexpr int kRounds = 2000;

class RoundTrip : public testing::TestWithParam<std::tuple<Mode, bool>> {
 protected:
  Mode mode() const { return std::get<0>(GetParam()); }
  bool extended() const { return std::get<1>(GetParam()); }

  template <class T>
  T number() {
    return static_cast<T>(random_.next());
  }

  std::uint8_t flags() { return extended() ? static_cast<std::uint8_t>(random_.below(8)) : std::uint8_t{0}; }

  Head head(PacketType type) {
    return {.dst = random_.next() & kBroadcastNic,
            .src = random_.next() & kBroadcastNic,
            .peer_index = number<std::uint16_t>(),
            .type = type};
  }

  void fill(Message& packet) {
    packet.dst_endpoint = number<std::uint8_t>();
    packet.src_endpoint = number<std::uint8_t>();
    packet.flags = flags();
    packet.seqnum = number<std::uint16_t>();
    packet.piggyack = number<std::uint16_t>();
    packet.match_info = random_.next();
    packet.session = number<std::uint32_t>();
    if (packet.flags & kFlagHeaderExt) {
      packet.ext = {number<std::uint8_t>(), number<std::uint8_t>(), random_.next()};
    }
  }

  template <class T>
  void fill_endpoint(T& packet) {
    packet.dst_endpoint = number<std::uint8_t>();
    packet.src_endpoint = number<std::uint8_t>();
    packet.flags = flags();
    packet.session = number<std::uint32_t>();
  }

  // Returns the frame that a link would send, after it checked head, extent and trailer.
  Bytes sent(const Head& head_in, Bytes header, const Bytes& data, std::uint8_t flag_bits,
             bool index_kept = true) {
    const std::size_t covered = header.size() + data.size();
    Bytes frame = whole_frame(std::move(header), data, flag_bits);
    Head got;
    EXPECT_EQ(decode_head(frame, got), Drop::none);
    EXPECT_EQ(got.dst, head_in.dst);
    EXPECT_EQ(got.src, head_in.src);
    if (index_kept) {
      EXPECT_EQ(got.peer_index, head_in.peer_index);
    }
    EXPECT_EQ(got.type, head_in.type);
    EXPECT_EQ(covered_length(frame, mode()), covered) << packet_type_name(head_in.type);
    EXPECT_EQ(checksum_verify(frame, mode()), (flag_bits & kFlagChecksum) != 0);
    return frame;
  }

  Random random_{20240607};
};

TEST_P(RoundTrip, connect) {
  for (int i = 0; i < kRounds; i++) {
    Connect packet;
    packet.dst_endpoint = number<std::uint8_t>();
    packet.src_endpoint = number<std::uint8_t>();
    packet.seqnum = number<std::uint16_t>();
    packet.src_dst_peer_index = number<std::uint16_t>();
    packet.src_session = number<std::uint32_t>();
    packet.key_or_target_session = number<std::uint32_t>();
    packet.target_recv_seqnum_start = number<std::uint16_t>();
    packet.is_reply = random_.chance(0.5);
    packet.connect_seqnum = number<std::uint8_t>();
    if (packet.is_reply) packet.status = number<std::uint8_t>();
    if (extended()) {
      packet.ext.present = true;
      packet.ext.version = number<std::uint8_t>();
      packet.ext.mode = mode();
      packet.ext.features = number<std::uint16_t>();
      packet.ext.max_frame = 188 + static_cast<std::uint32_t>(random_.below(0xffffffff - 188));
      packet.ext.pull_frames = static_cast<std::uint8_t>(1 + random_.below(255));
      if (packet.ext.features & kFeatureBulk) {
        for (auto& byte : packet.ext.bulk_address.ip) byte = static_cast<std::uint8_t>(random_.below(256));
        packet.ext.bulk_address.port = static_cast<std::uint16_t>(1 + random_.below(65535));
        packet.ext.bulk_address.frame = static_cast<std::uint16_t>(256 + random_.below(65280));
      }
      if (packet.ext.features & kFeatureRails) {
        packet.ext.rails.count = static_cast<std::uint8_t>(2 + random_.below(kRailsMost - 1));
        for (std::size_t n = 0; n < packet.ext.rails.count; n++)
          packet.ext.rails.nics[n] = 0x020000000000 + (NicId{n} << 32) + random_.below(1U << 31);
      }
      packet.ext.eager_frames = static_cast<std::uint16_t>(1 + random_.below(65535));
      packet.ext.generation = number<std::uint32_t>() & kCountGenerationMask;
      packet.ext.peer_generation = number<std::uint32_t>() & kCountGenerationMask;
      packet.ext.peer_generation_in_use = random_.below(2) == 0;
    }
    const Head h = head(PacketType::connect);
    const Bytes frame = sent(h, encoded([&](std::byte* o) { return encode_connect(o, h, packet); }), {}, 0);
    Connect got;
    ASSERT_EQ(decode_connect(frame, got), Drop::none);
    ASSERT_EQ(got, packet);
  }
}

TEST_P(RoundTrip, eager) {
  for (int i = 0; i < kRounds; i++) {
    const bool tiny = random_.chance(0.5);
    Eager packet;
    fill(packet);
    packet.length = static_cast<std::uint16_t>(random_.below(tiny ? 33 : 129));
    packet.checksum = number<std::uint16_t>();
    const Bytes data = random_bytes(random_, packet.length);
    const Head h = head(tiny ? PacketType::tiny : PacketType::small);
    const Bytes frame =
        sent(h, encoded([&](std::byte* o) { return encode_eager(o, h, packet); }), data, packet.flags);
    Eager got;
    const std::byte* at = nullptr;
    ASSERT_EQ(decode_eager(frame, extended(), got, &at), Drop::none);
    ASSERT_EQ(got, packet);
    ASSERT_EQ(Bytes(at, at + got.length), data);
  }
}

TEST_P(RoundTrip, pack) {
  for (int i = 0; i < kRounds; i++) {
    Pack packet;
    fill(packet);
    packet.flags &= static_cast<std::uint8_t>(~kFlagHeaderExt);
    packet.ext = {};
    std::vector<PackRecord> records(1 + random_.below(20));
    Bytes body;
    std::vector<Bytes> data;
    for (PackRecord& record : records) {
      record.match_info = number<std::uint64_t>();
      record.length = static_cast<std::uint16_t>(random_.below(kSmallMax + 1));
      record.has_ext = random_.chance(0.5);
      if (record.has_ext)
        record.ext = {number<std::uint8_t>(), number<std::uint8_t>(), number<std::uint64_t>()};
      const Bytes header = encoded([&](std::byte* o) { return encode_pack_record(o, record); });
      data.push_back(random_bytes(random_, record.length));
      body.insert(body.end(), header.begin(), header.end());
      body.insert(body.end(), data.back().begin(), data.back().end());
    }
    packet.length = static_cast<std::uint16_t>(body.size());
    const Head h = head(PacketType::pack);
    const Bytes frame =
        sent(h, encoded([&](std::byte* o) { return encode_pack(o, h, packet); }), body, packet.flags);
    Pack got;
    Frame rest;
    ASSERT_EQ(decode_pack(frame, got, rest), Drop::none);
    ASSERT_EQ(got, packet);
    for (std::size_t r = 0; r < records.size(); r++) {
      PackRecord record;
      const std::byte* at = nullptr;
      ASSERT_EQ(decode_pack_record(rest, record, &at), Drop::none);
      ASSERT_EQ(record, records[r]);
      ASSERT_EQ(Bytes(at, at + record.length), data[r]);
    }
    ASSERT_TRUE(rest.empty());
  }
}

TEST_P(RoundTrip, medium) {
  for (int i = 0; i < kRounds; i++) {
    Medium packet;
    fill(packet);
    packet.checksum = number<std::uint16_t>();
    std::uint32_t unit;
    if (mode() == Mode::mxoe) {
      packet.frag_pipeline = static_cast<std::uint8_t>(random_.below(16));
      unit = 1u << packet.frag_pipeline;
      packet.length = static_cast<std::uint32_t>(random_.below(std::min<std::uint64_t>(65536, unit * 256)));
    } else {
      unit = 1 + static_cast<std::uint32_t>(random_.below(9000));
      if (extended()) packet.frag_unit = static_cast<std::uint16_t>(unit);
      packet.length = static_cast<std::uint32_t>(random_.below(unit * 255));
    }
    const std::uint32_t fragments = std::max(1u, (packet.length + unit - 1) / unit);
    packet.frag_seqnum = static_cast<std::uint8_t>(random_.below(fragments));
    packet.frag_length =
        static_cast<std::uint16_t>(std::min(unit, packet.length - packet.frag_seqnum * unit));
    const Bytes data = random_bytes(random_, packet.frag_length);
    const Head h = head(PacketType::medium);
    const Bytes frame = sent(h, encoded([&](std::byte* o) { return encode_medium(o, h, mode(), packet); }),
                             data, packet.flags);
    Medium got;
    const std::byte* at = nullptr;
    ASSERT_EQ(decode_medium(frame, mode(), extended(), got, &at), Drop::none);
    ASSERT_EQ(got, packet);
    ASSERT_EQ(Bytes(at, at + got.frag_length), data);
  }
}

TEST_P(RoundTrip, rndv) {
  for (int i = 0; i < kRounds; i++) {
    Rndv packet;
    fill(packet);
    packet.msg_length = number<std::uint32_t>();
    packet.rdma_id = number<std::uint8_t>();
    packet.rdma_seqnum = number<std::uint8_t>();
    packet.rdma_offset = number<std::uint16_t>();
    packet.checksum = number<std::uint16_t>();
    packet.tail =
        extended() ? static_cast<std::uint16_t>(random_.below(kRndvTailMost + 1)) : std::uint16_t{0};
    const Bytes tail = random_bytes(random_, packet.tail);
    const Head h = head(PacketType::rndv);
    const Bytes frame = sent(h, encoded([&](std::byte* o) { return encode_rndv(o, h, packet, tail.data()); }),
                             {}, packet.flags);
    Rndv got;
    const std::byte* at = nullptr;
    ASSERT_EQ(decode_rndv(frame, extended(), got, &at), Drop::none);
    ASSERT_EQ(got, packet);
    ASSERT_EQ(Bytes(at, at + got.tail), tail);
  }
}

TEST_P(RoundTrip, pull) {
  const std::uint32_t mask = mode() == Mode::mxoe ? 0xffff : 0xffffffff;
  for (int i = 0; i < kRounds; i++) {
    Pull packet;
    fill_endpoint(packet);
    packet.total_length = number<std::uint32_t>();
    packet.rdma_id = number<std::uint32_t>() & (mode() == Mode::mxoe ? 0xff : 0xffffffff);
    packet.rdma_seqnum = number<std::uint8_t>();
    packet.rdma_offset = number<std::uint32_t>() & mask;
    packet.pull_handle = number<std::uint32_t>();
    packet.magic = number<std::uint32_t>();
    packet.first_frame_offset = number<std::uint32_t>() & mask;
    packet.block_length = number<std::uint32_t>() & mask;
    packet.frame_index = number<std::uint32_t>();
    if (mode() == Mode::omx && extended()) packet.reply_max = number<std::uint16_t>();
    const Head h = head(PacketType::pull);
    const Bytes frame =
        sent(h, encoded([&](std::byte* o) { return encode_pull(o, h, mode(), packet); }), {}, packet.flags);
    Pull got;
    ASSERT_EQ(decode_pull(frame, mode(), extended(), got), Drop::none);
    ASSERT_EQ(got, packet);
  }
}

TEST_P(RoundTrip, pull_reply) {
  for (int i = 0; i < kRounds / 10; i++) {
    PullReply packet;
    packet.src_endpoint = number<std::uint8_t>();
    packet.flags = flags();
    packet.frame_seqnum = number<std::uint8_t>();
    packet.frame_length = static_cast<std::uint16_t>(1 + random_.below(65535));
    packet.msg_offset = number<std::uint32_t>();
    packet.pull_handle = number<std::uint32_t>();
    packet.magic = number<std::uint32_t>();
    const Bytes data = random_bytes(random_, packet.frame_length);
    const Head h = head(PacketType::pull_reply);
    const Bytes frame = sent(h, encoded([&](std::byte* o) { return encode_pull_reply(o, h, packet); }), data,
                             packet.flags, false);
    PullReply got;
    const std::byte* at = nullptr;
    ASSERT_EQ(decode_pull_reply(frame, extended(), got, &at), Drop::none);
    ASSERT_EQ(got, packet);
    ASSERT_EQ(Bytes(at, at + got.frame_length), data);
  }
}

TEST_P(RoundTrip, notify) {
  for (int i = 0; i < kRounds; i++) {
    Notify packet;
    fill_endpoint(packet);
    packet.total_length = number<std::uint32_t>();
    packet.rdma_id = number<std::uint8_t>();
    packet.rdma_seqnum = number<std::uint8_t>();
    packet.seqnum = number<std::uint16_t>();
    packet.piggyack = number<std::uint16_t>();
    const Head h = head(PacketType::notify);
    const Bytes frame =
        sent(h, encoded([&](std::byte* o) { return encode_notify(o, h, packet); }), {}, packet.flags);
    Notify got;
    ASSERT_EQ(decode_notify(frame, extended(), got), Drop::none);
    ASSERT_EQ(got, packet);
  }
}

TEST_P(RoundTrip, truc) {
  for (int i = 0; i < kRounds; i++) {
    Truc packet;
    fill_endpoint(packet);
    packet.seqnum = number<std::uint16_t>();
    packet.acknum = number<std::uint32_t>();
    packet.send_seq = number<std::uint16_t>();
    packet.resent = number<std::uint8_t>();
    packet.has_sack = extended() && random_.chance(0.5);
    if (packet.has_sack) {
      for (std::uint8_t& b : packet.sack) b = number<std::uint8_t>();
    }
    const Head h = head(PacketType::truc);
    const Bytes frame =
        sent(h, encoded([&](std::byte* o) { return encode_truc(o, h, packet); }), {}, packet.flags);
    Truc got;
    ASSERT_EQ(decode_truc(frame, extended(), got), Drop::none);
    ASSERT_EQ(got, packet);
  }
}

TEST_P(RoundTrip, nacks) {
  for (int i = 0; i < kRounds; i++) {
    NackLib lib;
    lib.src_endpoint = number<std::uint8_t>();
    lib.dst_endpoint = number<std::uint8_t>();
    lib.flags = flags();
    lib.code = static_cast<NackCode>(random_.below(5));
    lib.peer_index = number<std::uint16_t>();
    lib.seqnum = number<std::uint16_t>();
    Head h = head(PacketType::nack_lib);
    Bytes frame = sent(h, encoded([&](std::byte* o) { return encode_nack_lib(o, h, lib); }), {}, lib.flags);
    NackLib got_lib;
    ASSERT_EQ(decode_nack_lib(frame, extended(), got_lib), Drop::none);
    ASSERT_EQ(got_lib, lib);

    NackMcp mcp;
    mcp.src_endpoint = number<std::uint8_t>();
    mcp.refusing_endpoint = number<std::uint8_t>();
    mcp.flags = flags();
    mcp.code = static_cast<NackCode>(random_.below(5));
    mcp.pull_handle = number<std::uint32_t>();
    mcp.magic = number<std::uint32_t>();
    h = head(PacketType::nack_mcp);
    frame = sent(h, encoded([&](std::byte* o) { return encode_nack_mcp(o, h, mcp); }), {}, mcp.flags);
    NackMcp got_mcp;
    ASSERT_EQ(decode_nack_mcp(frame, extended(), got_mcp), Drop::none);
    ASSERT_EQ(got_mcp, mcp);
  }
}

TEST_P(RoundTrip, host) {
  for (int i = 0; i < kRounds; i++) {
    const HostQuery query{number<std::uint16_t>(), number<std::uint32_t>()};
    Head h = head(PacketType::host_query);
    Bytes frame = sent(h, encoded([&](std::byte* o) { return encode_host_query(o, h, query); }), {}, 0);
    HostQuery got_query;
    ASSERT_EQ(decode_host_query(frame, got_query), Drop::none);
    ASSERT_EQ(got_query, query);

    const std::string name(random_.below(80), 'n');
    const auto length = static_cast<std::uint8_t>(name.size() + 1);
    const HostReply reply{number<std::uint16_t>(), number<std::uint32_t>(), length, name.c_str()};
    h = head(PacketType::host_reply);
    frame = sent(h, encoded([&](std::byte* o) { return encode_host_reply(o, h, reply); }), {}, 0);
    HostReply got;
    ASSERT_EQ(decode_host_reply(frame, got), Drop::none);
    ASSERT_EQ(got.src_dst_peer_index, reply.src_dst_peer_index);
    ASSERT_EQ(got.magic, reply.magic);
    ASSERT_EQ(got.name_length, length);
    ASSERT_EQ(got.name, name);
  }
}

TEST_P(RoundTrip, probe) {
  for (int i = 0; i < kRounds / 10; i++) {
    Probe packet;
    fill_endpoint(packet);
    packet.is_reply = random_.chance(0.5);
    packet.size = 60 + static_cast<std::uint32_t>(random_.below(65490));
    packet.cookie = number<std::uint32_t>();
    const Head h = head(PacketType::probe);
    Bytes frame =
        sent(h, encoded([&](std::byte* o) { return encode_probe(o, h, packet); }), {}, packet.flags);
    frame.resize(packet.size);
    Probe got;
    ASSERT_EQ(decode_probe(frame, got), Drop::none);
    ASSERT_EQ(got, packet);
  }
}

TEST_P(RoundTrip, discovery) {
  for (int i = 0; i < kRounds; i++) {
    const NicId self = 1 + random_.below(kBroadcastNic);
    const auto serial = number<std::uint32_t>();
    const Bytes frame = encoded([&](std::byte* o) { return encode_discovery(o, self, serial); });
    NicId nic = 0;
    std::uint32_t got = 0;
    ASSERT_EQ(decode_discovery(frame, nic, got), Drop::none);
    ASSERT_EQ(nic, self);
    ASSERT_EQ(got, serial);
  }
}

// Random bytes behind a valid type: most frames are refused, none does harm.
TEST_P(RoundTrip, noise) {
  for (int i = 0; i < 100 * kRounds; i++) {
    Bytes frame = random_bytes(random_, random_.below(200));
    if (frame.size() > 16) {
      store_be16(frame.data() + 12, kEthertype);
      frame[16] = static_cast<std::byte>(random_.below(70));
    }
    if (decode_any(frame, mode(), extended()) == Drop::none && extended()) {
      EXPECT_NE(covered_length(frame, mode()), 0u);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(modes, RoundTrip,
                         testing::Combine(testing::Values(Mode::mxoe, Mode::omx), testing::Bool()),
                         [](const auto& param) {
                           return std::string(std::get<0>(param.param) == Mode::mxoe ? "mxoe" : "omx") +
                                  (std::get<1>(param.param) ? "_extended" : "_legacy");
                         });

}  // namespace
}  // namespace omx::wire::test
