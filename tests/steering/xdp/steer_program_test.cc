// SPDX-License-Identifier: BSD-3-Clause
// The XDP program in the kernel, given frames by BPF_PROG_TEST_RUN. Nothing is attached or sent.
#include <bpf/bpf.h>
#include <gmock/gmock.h>
#include <linux/bpf.h>
#include <sched.h>

#include <cerrno>
#include <cstring>
#include <numeric>

#include "base/affinity.h"
#include "base/bytes.h"
#include "base/random.h"
#include "steering/xdp/steer_program.h"
#include "tests/support/emulated.h"
#include "wire/codec.h"

namespace omx::steering {
namespace {

using wire::Head;
using wire::Mode;
using wire::PacketType;
using Bytes = std::vector<std::byte>;

constexpr int kPasses = -1;  // the frame is for no endpoint

TEST(kernel_refused, names_a_remedy_where_it_is_one) {
  using testing::HasSubstr;
  using testing::Not;
  for (const int error : {EPERM, EACCES})
    EXPECT_THAT(kernel_refused("loading", error).message, HasSubstr("loading takes root"));
  for (const int error : {EINVAL, ENOSYS, EOPNOTSUPP})
    EXPECT_THAT(kernel_refused("loading", error).message, HasSubstr("needs Linux 5.18"));
  for (const int error : {ENOMEM, EBUSY, ENOENT, EMFILE, ENODEV})
    EXPECT_THAT(kernel_refused("loading", error).message,
                testing::AllOf(HasSubstr(std::strerror(error)), Not(HasSubstr("needs Linux"))));
}

class steer_program : public testing::Test {
 protected:
  void SetUp() override {
    OMX_SKIP_EMULATED("has no bpf()");
    const std::vector<int> online = processors_online();
    ASSERT_FALSE(online.empty());
    here = static_cast<unsigned>(online.front());
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(here, &set);
    if (::sched_setaffinity(0, sizeof set, &set) != 0) GTEST_SKIP() << "may not run on processor " << here;
    // Odd endpoints belong to another processor, if there is one.
    auto made = steer_table_make("", "", online);
    ASSERT_TRUE(made) << made.error().message;
    table = *made;
    auto loaded = steer_load(table);
    if (!loaded && loaded.error().message.find("takes root") != std::string::npos)
      GTEST_SKIP() << loaded.error().message;
    ASSERT_TRUE(loaded) << loaded.error().message;
    program = std::move(*loaded);
  }

  // Returns what the program does with a frame, which must not change.
  std::uint32_t action_for(const Bytes& frame) {
    Bytes out(frame.size() + 64);
    bpf_test_run_opts run{};
    run.sz = sizeof run;
    run.data_in = frame.data();
    run.data_size_in = static_cast<std::uint32_t>(frame.size());
    run.data_out = out.data();
    run.data_size_out = static_cast<std::uint32_t>(out.size());
    run.repeat = 1;
    const int error = ::bpf_prog_test_run_opts(program.get(), &run);
    EXPECT_EQ(error, 0) << std::strerror(-error);
    out.resize(run.data_size_out);
    EXPECT_EQ(out, frame);
    return run.retval;
  }

  // Frames of each endpoint that stayed and that moved.
  using Counts = std::vector<std::pair<std::uint64_t, std::uint64_t>>;
  Counts counts() const {
    const auto state = steer_read(program.get());
    EXPECT_TRUE(state) << state.error().message;
    Counts all;
    if (!state) return all;
    EXPECT_EQ(state->table, table);
    for (const EndpointCounts& e : state->endpoints)
      all.emplace_back(std::reduce(e.stayed.begin(), e.stayed.end()),
                       std::reduce(e.moved.begin(), e.moved.end()));
    return all;
  }

  void expect(const Bytes& frame, int endpoint) {
    Counts expected = counts();
    std::uint32_t action = XDP_PASS;
    if (endpoint != kPasses) {
      auto& [stayed, moved] = expected.at(static_cast<std::size_t>(endpoint));
      if (table.at(static_cast<std::size_t>(endpoint)) == here) {
        stayed++;
      } else {
        moved++;
        action = XDP_REDIRECT;
      }
    }
    EXPECT_EQ(action_for(frame), action) << "endpoint " << endpoint;
    EXPECT_EQ(counts(), expected) << "endpoint " << endpoint;
  }

  unsigned here = 0;
  SteerTable table{};
  OwnFd program;
};

Head head(PacketType type) {
  return {.dst = 0x001b21aabbcc, .src = 0x0060dd47c475, .peer_index = 0x0107, .type = type};
}

template <class Encode>
Bytes encoded(Encode encode, std::size_t least = wire::kMinFrame) {
  Bytes frame(2048);
  frame.resize(std::max(encode(frame.data()), least));
  return frame;
}

struct Named {
  const char* name;
  Bytes frame;
};

// Returns every packet with a destination endpoint, from our own encoder. All other fields have values that
// must not be taken for the destination.
std::vector<Named> frames_for(std::uint8_t endpoint) {
  const auto other = static_cast<std::uint8_t>(endpoint + 1);
  const auto fill = [&](auto packet) {
    packet.dst_endpoint = endpoint;
    packet.src_endpoint = other;
    return packet;
  };
  const std::uint32_t magic = wire::kPullMagic ^ endpoint;
  std::vector<Named> all;
  const auto add = [&](const char* name, auto encode) { all.push_back({name, encoded(encode)}); };
  for (const bool is_reply : {false, true}) {
    auto connect = fill(wire::Connect{});
    connect.is_reply = is_reply;
    connect.ext.present = true;
    connect.ext.features = 0xff;
    connect.ext.max_frame = 9014;
    connect.ext.pull_frames = 8;
    connect.ext.eager_frames = 32;
    add("connect", [&](std::byte* out) { return encode_connect(out, head(PacketType::connect), connect); });
    auto probe = fill(wire::Probe{});
    probe.is_reply = is_reply;
    probe.size = wire::kMinFrame;
    add("probe", [&](std::byte* out) { return encode_probe(out, head(PacketType::probe), probe); });
  }
  for (const PacketType type : {PacketType::tiny, PacketType::small}) {
    auto eager = fill(wire::Eager{});
    eager.flags = wire::kFlagUrgent | wire::kFlagHeaderExt;
    add("eager", [&](std::byte* out) { return encode_eager(out, head(type), eager); });
  }
  add("pack", [&](std::byte* out) { return encode_pack(out, head(PacketType::pack), fill(wire::Pack{})); });
  add("rndv", [&](std::byte* out) { return encode_rndv(out, head(PacketType::rndv), fill(wire::Rndv{})); });
  for (const Mode mode : {Mode::mxoe, Mode::omx}) {
    auto medium = fill(wire::Medium{});
    medium.frag_pipeline = wire::kMxoePipeline;
    add("medium", [&](std::byte* out) { return encode_medium(out, head(PacketType::medium), mode, medium); });
    auto pull = fill(wire::Pull{});
    pull.magic = wire::kPullMagic ^ other;
    add("pull", [&](std::byte* out) { return encode_pull(out, head(PacketType::pull), mode, pull); });
  }
  wire::PullReply reply;
  reply.frame_seqnum = other;
  reply.frame_length = 28;
  reply.magic = magic;
  add("pull_reply",
      [&](std::byte* out) { return encode_pull_reply(out, head(PacketType::pull_reply), reply); });
  add("notify",
      [&](std::byte* out) { return encode_notify(out, head(PacketType::notify), fill(wire::Notify{})); });
  auto truc = fill(wire::Truc{});
  truc.has_sack = true;
  add("truc", [&](std::byte* out) { return encode_truc(out, head(PacketType::truc), truc); });
  auto nack = fill(wire::NackLib{});
  nack.code = wire::NackCode::bad_session;
  add("nack_lib", [&](std::byte* out) { return encode_nack_lib(out, head(PacketType::nack_lib), nack); });
  wire::NackMcp refusal;
  refusal.src_endpoint = other;
  refusal.code = wire::NackCode::bad_rdma_window;
  refusal.magic = magic;
  add("nack_mcp", [&](std::byte* out) { return encode_nack_mcp(out, head(PacketType::nack_mcp), refusal); });
  return all;
}

std::vector<Named> board_frames() {
  std::vector<Named> all;
  all.push_back({"host_query", encoded([](std::byte* out) {
                   return encode_host_query(out, head(PacketType::host_query), {1, wire::kHostQueryMagic});
                 })});
  all.push_back({"host_reply", encoded([](std::byte* out) {
                   wire::HostReply reply{1, wire::kHostQueryMagic, 7, "node:0"};
                   return encode_host_reply(out, head(PacketType::host_reply), reply);
                 })});
  all.push_back(
      {"discovery", encoded([](std::byte* out) { return wire::encode_discovery(out, 0x60dd47c475, 42); })});
  return all;
}

// Returns the frame with a tag of this Ethernet type.
Bytes tagged(const Bytes& frame, unsigned type) {
  Bytes out = frame;
  const std::array tag = {static_cast<std::byte>(type >> 8), static_cast<std::byte>(type), std::byte{0x20},
                          std::byte{0x05}};
  out.insert(out.begin() + 12, tag.begin(), tag.end());
  return out;
}

TEST_F(steer_program, finds_the_endpoint_of_every_packet) {
  for (const int endpoint : {0, 1, 2, 7, 127, 128, 129, 254, 255}) {
    for (const auto& [name, frame] : frames_for(static_cast<std::uint8_t>(endpoint))) {
      SCOPED_TRACE(name);
      expect(frame, endpoint);
    }
  }
}

// The program looks behind one tag, not behind two.
TEST_F(steer_program, finds_it_behind_a_tag) {
  for (const auto& [name, frame] : frames_for(3)) {
    SCOPED_TRACE(name);
    for (const unsigned type : {0x8100U, 0x88A8U}) expect(tagged(frame, type), 3);
    expect(tagged(tagged(frame, 0x8100), 0x88A8), kPasses);
    expect(tagged(frame, 0x9100), kPasses);
  }
}

TEST_F(steer_program, board_frames_pass) {
  for (const auto& [name, frame] : board_frames()) {
    SCOPED_TRACE(name);
    expect(frame, kPasses);
    expect(tagged(frame, 0x8100), kPasses);
  }
}

// For each type the program must agree with the decoder. A new packet type fails here until the program knows
// it.
TEST_F(steer_program, agrees_with_the_decoder_on_any_type) {
  Random random(7);
  for (unsigned type = 0; type < 256; type++) {
    Bytes frame(wire::kMinFrame);
    for (std::byte& b : frame) b = static_cast<std::byte>(random.next());
    store_be16(&frame[12], wire::kEthertype);
    frame[16] = static_cast<std::byte>(type);
    SCOPED_TRACE(type);
    expect(frame, wire::destination_endpoint(frame));
    expect(tagged(frame, 0x8100), wire::destination_endpoint(frame));
  }
}

TEST_F(steer_program, other_ethernet_types_pass) {
  Bytes frame = frames_for(1).front().frame;
  for (const unsigned type : {0x0800U, 0x0806U, 0x86DDU, 0x86DEU, 0xDF86U, 0x0086U, 0xDF00U, 0xFFFFU, 46U}) {
    store_be16(&frame[12], static_cast<std::uint16_t>(type));
    expect(frame, kPasses);
    expect(tagged(frame, 0x8100), kPasses);
  }
}

TEST_F(steer_program, garbage_passes_unless_it_says_our_type) {
  Random random(11);
  for (int round = 0; round < 300; round++) {
    Bytes frame(14 + random.below(1500));
    for (std::byte& b : frame) b = static_cast<std::byte>(random.next());
    const unsigned type = load_be16(&frame[12]);
    if (type == wire::kEthertype || type == 0x8100 || type == 0x88A8) continue;
    expect(frame, kPasses);
  }
}

// The frames are shorter than any of ours. The program must read no byte behind the end.
TEST_F(steer_program, truncated_frames_pass) {
  for (const auto& [name, frame] : frames_for(1)) {
    SCOPED_TRACE(name);
    for (const std::size_t size : {14U, 16U, 17U, 18U, 25U, 26U, 31U}) {
      Bytes shorter(frame.begin(), frame.begin() + static_cast<std::ptrdiff_t>(size));
      expect(shorter, kPasses);
    }
    const Bytes with_tag = tagged(frame, 0x8100);
    for (const std::size_t size : {16U, 18U, 31U, 32U, 35U}) {
      Bytes shorter(with_tag.begin(), with_tag.begin() + static_cast<std::ptrdiff_t>(size));
      expect(shorter, kPasses);
    }
    expect(Bytes(frame.begin(), frame.begin() + 32), 1);
  }
}

// The kernel shows a frame larger than a page in pieces.
TEST_F(steer_program, large_frames) {
  wire::PullReply reply;
  reply.frame_length = 8968;
  reply.magic = wire::kPullMagic ^ 9;
  Bytes frame(9000);
  encode_pull_reply(frame.data(), head(PacketType::pull_reply), reply);
  expect(frame, 9);
}

TEST_F(steer_program, a_file_that_is_no_program_is_not_ours) {
  EXPECT_TRUE(steer_is_ours(program.get()));
  EXPECT_FALSE(steer_is_ours(-1));
  const std::uint32_t value_size = sizeof(std::uint32_t);
  const OwnFd map(::bpf_map_create(BPF_MAP_TYPE_ARRAY, "omx_steer", 4, value_size, 1, nullptr));
  ASSERT_TRUE(map.open());
  EXPECT_FALSE(steer_is_ours(map.get()));
}

}  // namespace
}  // namespace omx::steering
