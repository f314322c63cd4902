// SPDX-License-Identifier: BSD-3-Clause
// Writes the seed corpus: wire_make_corpus FOLDER. The worked examples of docs/spec/wire.md 11, and every
// packet that two extended peers exchange. Inputs that fuzzing found are kept beside them under other names.
#include <cstdio>
#include <filesystem>
#include <fstream>

#include "tests/wire/examples.h"
#include "tests/wire/wire_util.h"

namespace omx::wire::test {
namespace {

std::filesystem::path g_folder;

void write(const std::string& name, const Bytes& frame) {
  std::ofstream out(g_folder / (name + ".bin"), std::ios::binary);
  out.write(reinterpret_cast<const char*>(frame.data()), static_cast<std::streamsize>(frame.size()));
}

template <class T>
T message(std::uint8_t flags) {
  T packet;
  packet.src_endpoint = 3;
  packet.flags = flags;
  packet.seqnum = 1;
  packet.piggyack = 1;
  packet.match_info = 0x1234567887654321;
  packet.session = kSessionB;
  packet.ext = {.message_class = 2, .data_valid = 1, .data = 0x0102030405060708};
  return packet;
}

void write_examples() {
  for (const Example* example : kExamples) {
    Bytes frame = from_hex(example->hex);
    frame.resize(frame.size() + example->data_bytes);
    write(example->name, frame);
  }
}

void write_messages(std::uint8_t flags, const std::string& suffix) {
  auto eager = message<Eager>(flags);
  eager.length = 20;
  write("ext_tiny" + suffix, whole_frame(encoded([&](std::byte* out) {
                                           return encode_eager(out, head_to_b(PacketType::tiny), eager);
                                         }),
                                         Bytes(20), flags));
  eager.length = 100;
  write("ext_small" + suffix, whole_frame(encoded([&](std::byte* out) {
                                            return encode_eager(out, head_to_b(PacketType::small), eager);
                                          }),
                                          Bytes(100), flags));
  Bytes records;
  for (const bool has_ext : {false, true}) {
    const PackRecord record{.match_info = 7, .length = 20, .has_ext = has_ext, .ext = {1, 1, 5}};
    const Bytes header = encoded([&](std::byte* out) { return encode_pack_record(out, record); });
    records.insert(records.end(), header.begin(), header.end());
    records.resize(records.size() + record.length);
  }
  Pack pack;
  pack.flags = flags;
  pack.length = static_cast<std::uint16_t>(records.size());
  write("pack" + suffix, whole_frame(encoded([&](std::byte* out) {
                                       return encode_pack(out, head_to_b(PacketType::pack), pack);
                                     }),
                                     records, flags));
  for (Mode mode : {Mode::mxoe, Mode::omx}) {
    auto medium = message<Medium>(flags);
    medium.length = 700;
    medium.frag_length = 188;
    medium.frag_seqnum = 1;
    medium.frag_unit = 512;
    medium.frag_pipeline = 9;
    const std::string name = mode == Mode::mxoe ? "ext_medium_mxoe" : "ext_medium_omx";
    write(name + suffix, whole_frame(encoded([&](std::byte* out) {
                                       return encode_medium(out, head_to_b(PacketType::medium), mode, medium);
                                     }),
                                     Bytes(188), flags));
  }
  auto rndv = message<Rndv>(flags);
  rndv.msg_length = 100000;
  rndv.rdma_seqnum = 23;
  write("ext_rndv" + suffix, whole_frame(encoded([&](std::byte* out) {
                                           return encode_rndv(out, head_to_b(PacketType::rndv), rndv);
                                         }),
                                         {}, flags));
}

void write_transfer() {
  Pull pull;
  pull.flags = kFlagUrgent | kFlagChecksum;
  pull.session = kSessionA;
  pull.total_length = 1000000;
  pull.magic = kPullMagic;
  pull.block_length = 286464;
  pull.reply_max = 8952;
  const Head head = head_to_a(PacketType::pull);
  write("ext_pull",
        whole_frame(encoded([&](std::byte* out) { return encode_pull(out, head, Mode::omx, pull); }), {},
                    pull.flags));
  PullReply reply;
  reply.flags = kFlagUrgent | kFlagChecksum;
  reply.frame_length = 300;
  reply.magic = kPullMagic;
  write("ext_pull_reply", whole_frame(encoded([&](std::byte* out) {
                                        return encode_pull_reply(out, head_to_b(PacketType::pull_reply),
                                                                 reply);
                                      }),
                                      Bytes(300), reply.flags));
}

void write_control() {
  Truc truc;
  truc.flags = kFlagChecksum;
  truc.session = kSessionB;
  truc.has_sack = true;
  truc.sack[3] = 0x81;
  write("ext_truc_sack", whole_frame(encoded([&](std::byte* out) {
                                       return encode_truc(out, head_to_b(PacketType::truc), truc);
                                     }),
                                     {}, truc.flags));
  Probe probe;
  probe.session = kSessionB;
  probe.size = 1514;
  probe.cookie = 7;
  Bytes frame =
      encoded([&](std::byte* out) { return encode_probe(out, head_to_b(PacketType::probe), probe); });
  frame.resize(probe.size);
  write("ext_probe", frame);

  Connect connect;
  connect.src_session = kSessionA;
  connect.ext = {.present = true,
                 .version = 1,
                 .mode = Mode::omx,
                 .features = 31,
                 .max_frame = 9014,
                 .pull_frames = 32,
                 .eager_frames = 256,
                 .generation = 77,
                 .peer_generation = 5,
                 .peer_generation_in_use = true,
                 .bulk_address = {},
                 .rails = {}};
  frame =
      encoded([&](std::byte* out) { return encode_connect(out, head_to_b(PacketType::connect), connect); });
  write("ext_connect", frame);
  frame.resize(80);  // a longer block of a newer version
  frame[20] = std::byte{48};
  frame[53] = std::byte{32};
  store_be32(frame.data() + 76, crc32c(0, frame.data() + 12, 64));
  write("ext_connect_newer", frame);
  connect.ext.features = 31 | kFeatureRails;
  connect.ext.rails = {2, {0x020000000001, 0x020000000011}};
  frame =
      encoded([&](std::byte* out) { return encode_connect(out, head_to_b(PacketType::connect), connect); });
  write("ext_connect_rails", frame);
}

}  // namespace
}  // namespace omx::wire::test

int main(int argc, char** argv) {
  using namespace omx::wire;
  if (argc != 2) {
    std::fprintf(stderr, "usage: wire_make_corpus FOLDER\n");
    return 2;
  }
  test::g_folder = argv[1];
  std::filesystem::create_directories(test::g_folder);
  test::write_examples();
  test::write_messages(kFlagUrgent, "_mark");
  test::write_messages(kFlagHeaderExt, "_header_ext");
  test::write_messages(kFlagChecksum | kFlagHeaderExt, "_checksum");
  test::write_transfer();
  test::write_control();
  return 0;
}
