// SPDX-License-Identifier: BSD-3-Clause
// Writes the seeds: engine_make_corpus FOLDER. Each is a whole conversation, in every kind of agreement, so
// that the fuzzer begins deep inside. Inputs that fuzzing found are kept beside them under other names.
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>

#include "tests/fuzz/engine/script.h"

namespace omx::fuzz {
namespace {

class Seed {
 public:
  // `step` and its bytes; what follows is zero, the valid case.
  Seed& operator()(Step step, std::initializer_list<int> bytes = {}) {
    text_ += static_cast<char>(step);
    for (const int b : bytes) text_ += static_cast<char>(b);
    return *this;
  }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

// Indexes of kLengths.
constexpr int kTiny = 1, kSmall = 4, kMedium = 9, kLarge = 13, kHuge = 15;
// Bytes of time_passes: an exchange, a retransmission, a give-up.
constexpr int kShort = 1, kMilli = 3, kResend = 5, kLong = 7 | 24;
constexpr int kAnySender = 0, kFromA = 16;
constexpr int kTagOnly = 0, kAnyTag = 4;

void write_one(const std::filesystem::path& file, std::initializer_list<int> setup, const Seed& seed) {
  std::ofstream out(file, std::ios::binary);
  for (const int byte : setup) out << static_cast<char>(byte);
  out << seed.text();
}

// Two boards on both sides, three and attackers with one name too many, four, and the honest peer with one.
void write_rails(const std::filesystem::path& folder, const std::string& name, const Seed& seed) {
  write_one(folder / (name + "_two.bin"), {0, 96, 4}, seed);
  write_one(folder / (name + "_three.bin"), {8 | 16, 96, 4 | 1 | 8}, seed);
  write_one(folder / (name + "_four.bin"), {4, 96, 4 | 2}, seed);
  write_one(folder / (name + "_lone.bin"), {0, 96, 0}, seed);
}

void write(const std::filesystem::path& folder, const std::string& name, const Seed& seed) {
  // Extended, not, with checksums in jumbo frames, MX frames, attackers unlike the honest peer, and names
  // that are not the sender's.
  const struct {
    const char* name;
    int a, b;
  } kinds[] = {{"omx", 0, 0},  {"reference", 2, 0}, {"checksum", 4 | 16, 4},
               {"mxoe", 1, 1}, {"mixed", 128, 32},  {"spoofed", 8, 0}};
  for (const auto& kind : kinds) {
    write_one(folder / (name + "_" + kind.name + ".bin"), {kind.a, kind.b}, seed);
  }
}

void write_receiving(const std::filesystem::path& folder) {
  Seed eager;
  for (const int length : {0, 20, 32, 33, 128}) {
    eager(Step::receive, {kFromA | kTagOnly, kSmall});
    eager(Step::eager, {0, 0, length});
  }
  eager(Step::eager, {0, 0, 40})(Step::eager, {1, 0, 40})(Step::probe, {0})(Step::receive,
                                                                            {kAnySender | kAnyTag, kSmall});
  write(folder, "eager", eager);

  Seed pack;
  // Four records, some with data and a class; one number ahead; a length that is not theirs.
  pack(Step::receive, {kFromA | kAnyTag, kSmall})(Step::pack, {0, 3, 0x40, 8, 0x80, 0xC1, 20, 0});
  pack(Step::pack, {2, 2, 1, 0x40, 3, 0})(Step::pack, {0, 7, 0, 0, 0, 0, 0, 0, 0, 0, 0, 200});
  pack(Step::pack, {1, 0, 0x40, 129})(Step::time, {kMilli})(Step::probe, {0});
  write(folder, "pack", pack);

  Seed medium;
  medium(Step::receive, {kFromA, kLarge | 16})(Step::medium, {0, 0, kMedium});
  medium(Step::medium, {0, 0, kMedium})(Step::receive, {kAnySender, 6});
  medium(Step::receive, {kAnySender, kLarge});
  for (const int fragment : {2, 0, 4, 4, 1, 3}) medium(Step::medium, {0, 0, kMedium | 64, fragment});
  // More fragments than the mask has bits; another length in the middle of a message.
  medium(Step::medium, {0, 0, kMedium | 32 | 64, 0, 16, 4, 70})(Step::medium, {0, 0, kMedium | 64, 0});
  medium(Step::medium, {0, 0, kLarge | 64, 30})(Step::medium, {0, 0, kMedium | 64 | 128, 4, 3, 255});
  write(folder, "medium", medium);

  Seed early;
  early(Step::receive, {kFromA | kAnyTag, kLarge});
  early(Step::eager, {0, 2, 2, 20})(Step::eager, {0, 2, 1, 20})(Step::medium, {0, 2, 3, kMedium})(Step::time,
                                                                                                  {kMilli});
  early(Step::rndv, {0, 2, 4, kLarge})(Step::eager, {0, 0, 20})(Step::time, {kMilli})(Step::eager,
                                                                                      {0, 2, 255, 20});
  write(folder, "early", early);

  Seed large;
  large(Step::receive, {kFromA, kHuge | 32})(Step::rndv, {0, 0, kLarge});
  for (int i = 0; i < 4; i++) large(Step::pull_reply, {0, 0, 0, 0});
  large(Step::truc, {0, 0})(Step::rndv, {0, 0, kHuge})(Step::probe, {0})(Step::receive, {kAnySender, kLarge});
  large(Step::pull_reply, {0, 0, 64, 0x5A})(Step::time, {kResend});
  for (int i = 0; i < 4; i++) large(Step::pull_reply, {0, 0, 0, 0});
  large(Step::truc, {0, 0})(Step::time, {kMilli});
  write(folder, "large_receive", large);

  Seed refused;
  refused(Step::receive, {kFromA, kHuge})(Step::rndv, {0, 0, kLarge})(Step::nack_mcp, {0, 0});
  refused(Step::receive, {kFromA, kHuge})(Step::rndv, {0, 0, kLarge})(Step::pull_reply, {0, 0, 32, 0, 1});
  refused(Step::time, {kLong})(Step::pull_reply, {0, 0, 0, 0});
  write(folder, "large_refused", refused);
}

void write_sending(const std::filesystem::path& folder) {
  Seed send;
  for (const int length : {0, kTiny, 2, 3, kSmall, 5, kMedium}) send(Step::send, {length << 2, 1});
  send(Step::truc, {0, 2, 3})(Step::time, {kResend})(Step::truc, {0, 16, 0, 5})(Step::time, {kMilli});
  send(Step::truc, {0, 0})(Step::send, {kTiny << 2})(Step::eager, {0, 0, 20})(Step::eager, {0, 8, 1, 20});
  write(folder, "send", send);

  Seed large;
  large(Step::send, {kLarge << 2})(Step::send, {kTiny << 2 | 64});
  large(Step::pull, {0, 0, 0})(Step::pull, {0, 64, 0, 20})(Step::pull, {0, 32 | 64, 0, 0, 0, 32, 0, 39});
  large(Step::pull, {0, 64, 16, 0})(Step::pull, {0, 32 | 128, 32, 0, 0, 156, 64, 0, 64})(Step::truc, {0, 0});
  large(Step::notify, {0, 0, 0})(Step::notify, {0, 0, 0})(Step::time, {kMilli});
  write(folder, "large_send", large);

  Seed nack;
  nack(Step::send, {kMedium << 2})(Step::nack_lib, {0, 2})(Step::send, {kMedium << 2})(Step::connect_request,
                                                                                       {0, 0});
  nack(Step::send, {kLarge << 2})(Step::pull, {0, 0, 0})(Step::nack_lib, {0, 2})(Step::time, {kMilli});
  write(folder, "nack", nack);

  Seed lost;
  lost(Step::send, {kMedium << 2})(Step::send, {kLarge << 2})(Step::time, {kLong})(Step::time, {kLong});
  lost(Step::connect, {0})(Step::connect_reply, {0, 0})(Step::send, {kMedium << 2})(Step::time, {kResend});
  lost(Step::timeout, {0, 1})(Step::time, {kLong});
  write(folder, "timeout", lost);
}

void write_peers(const std::filesystem::path& folder) {
  Seed connect;
  connect(Step::connect, {1})(Step::connect_reply, {1, 0})(Step::connect, {1 | 4})(Step::connect_reply,
                                                                                   {1, 16, 32, 11});
  connect(Step::connect, {0})(Step::cancel, {0, 1})(Step::connect, {0})(Step::nack_lib, {0, 0});
  connect(Step::send, {kTiny << 2 | 1})(Step::truc, {1, 0})(Step::disconnect, {0})(Step::connect_request,
                                                                                   {0, 1, 9});
  connect(Step::connect_request, {0, 8, 1, 0, 1})(Step::eager, {0, 0, 20})(Step::disconnect, {1});
  write(folder, "connect", connect);

  Seed restart;
  restart(Step::send, {kLarge << 2})(Step::rndv, {0, 0, kLarge})(Step::medium, {0, 2, 2, kMedium});
  restart(Step::medium, {0, 0, kMedium | 64, 1})(Step::connect_request, {0, 1, 3})(Step::eager, {0, 0, 20});
  restart(Step::send, {kTiny << 2})(Step::connect_request, {0, 0})(Step::time, {kResend});
  write(folder, "restart", restart);

  Seed probe;
  probe(Step::mtu_probe, {0, 0})(Step::mtu_probe, {0, 2})(Step::time, {kResend})(Step::mtu_probe,
                                                                                 {0, 4, 0, 0, 35, 54});
  probe(Step::send, {kMedium << 2})(Step::send, {kHuge << 2})(Step::pull, {0, 0, 0})(Step::time, {kResend});
  probe(Step::mtu_probe, {0, 12, 0, 0, 35, 54, 0, 60})(Step::mtu, {0});
  write(folder, "probe", probe);

  Seed flood;
  flood(Step::flood, {70, 2 | 13})(Step::flood, {70, 60})(Step::flood, {70, 4 | 9})(Step::flood,
                                                                                    {70, 8 | 32});
  flood(Step::honest_send, {kMedium})(Step::receive, {48, kLarge})(Step::time, {kMilli});
  write(folder, "flood", flood);

  Seed handlers;
  for (int mode = 0; mode < 7; mode++) {
    handlers(Step::handler, {mode})(Step::eager, {0, 0, 20})(Step::medium, {0, 0, kMedium})(Step::rndv,
                                                                                            {0, 0, kLarge});
    handlers(Step::honest_send, {kTiny})(Step::honest_send, {kLarge})(Step::send, {kTiny << 2 | 3})(
        Step::time, {kMilli});
    handlers(Step::connect_request, {0, 0});
  }
  write(folder, "handler", handlers);

  Seed honest;
  for (const int length : {0, kTiny, kSmall, kMedium, kLarge}) {
    honest(Step::honest_send, {length})(Step::send, {length << 2 | 2})(Step::receive,
                                                                       {kAnySender, kLarge})(Step::lose);
    honest(Step::replay, {0, length, 0})(Step::replay, {0, 4 + length, 8 | 16 | 32, 20})(Step::time,
                                                                                         {kShort});
    honest(Step::pull, {0, 0, 16})(Step::pull_reply, {0, 0, 16, 0})(Step::notify, {0, 16, 0})(Step::nack_mcp,
                                                                                              {0, 16});
    honest(Step::eager, {0, 0, 20})(Step::eager, {3, 0, 20})(Step::time, {kMilli});
  }
  honest(Step::raw, {0, 8, 0, 0, 37, 2, 0, 0, 0, 0})(Step::time, {kLong});
  write(folder, "honest", honest);

  // Another user's endpoint of the honest peer's host, at each step of a large message.
  Seed neighbour;
  neighbour(Step::connect_request, {3, 0});
  // The honest peer's NOTIFY for a message that it has not requested yet, in a frame of the neighbour's.
  neighbour(Step::send, {kLarge << 2 | 2, 0})(
      Step::pack,
      {3, 0, 0, 0x38, 0, 0, 1, 0, 0x11, 0x11, 0x22, 0x22, 0, 0, 0x9C, 0x40, 0, 23, 0, 0, 0, 0, 0, 1, 0, 2});
  for (const int length : {kLarge, kHuge, kLarge, kMedium}) {
    neighbour(Step::receive, {kAnySender | kAnyTag, kHuge})(Step::honest_send, {length});
    neighbour(Step::time, {24})(Step::time, {24});  // 8 us: the PULL is on its way
    neighbour(Step::pull_reply, {3, 0, 16, 0})(Step::nack_mcp, {3, 16})(Step::pull_reply, {3, 32, 16, 0});
    neighbour(Step::time, {kShort})(Step::pull_reply, {3, 0, 16, 0})(Step::nack_mcp, {3, 16});
    neighbour(Step::notify, {3, 16, 0})(Step::eager, {3, 0, 20})(Step::truc, {3, 0})(Step::nack_lib, {3, 2});
    neighbour(Step::replay, {3, length, 0})(Step::replay, {3, length + 1, 32})(Step::time, {kMilli});
    neighbour(Step::send, {length << 2 | 2, 0})(Step::pull, {3, 0, 16})(Step::time, {kShort});
  }
  neighbour(Step::connect_request, {3, 16, 8, 65})(Step::connect_request, {3, 1, 9})(Step::time, {kResend});
  neighbour(Step::honest_send, {kHuge})(Step::receive, {kAnySender | kAnyTag, kHuge})(Step::time, {kMilli});
  write(folder, "neighbour", neighbour);
}

void write_boards(const std::filesystem::path& folder) {
  // A large message of the attacker's, by both of its boards, one of which was proven; then one goes silent.
  Seed large;
  large(Step::receive, {kFromA, kHuge | 32})(Step::rndv, {0, 0, kHuge});
  large(Step::rail_way, {1 | 1 << 2})(Step::rail_probe, {0, 0})(Step::pull_reply, {0, 0, 0, 0});
  large(Step::rail_way, {0})(Step::pull_reply, {0, 0, 64, 0x33})(Step::time, {kResend});
  large(Step::pull_reply, {0, 0, 0, 0})(Step::rail_way, {5})(Step::rail_probe, {0, 0});
  large(Step::carrier, {1})(Step::pull_reply, {0, 0, 0, 0})(Step::carrier, {5})(Step::time, {kLong});
  write_rails(folder, "rails_large", large);

  // Probes that prove nothing: no cookie, another size, another session, requested where no peer is known.
  Seed probe;
  probe(Step::receive, {kFromA, kHuge | 32})(Step::rndv, {0, 0, kHuge})(Step::rail_probe, {0, 2});
  probe(Step::rail_way, {5})(Step::rail_probe, {0, 8, 0, 0, 0, 1})(Step::rail_probe, {0, 4, 0, 0, 0, 90});
  probe(Step::rail_probe, {0, 1, 0, 0, 0, 7})(Step::rail_probe, {0, 32, 0, 70})(Step::rail_probe, {2, 9, 2});
  probe(Step::rail_probe, {3, 0})(Step::rail_probe, {0, 16, 10})(Step::time, {kResend});
  write_rails(folder, "rails_probe", probe);

  // Boards that are the honest peer's, the victim's, twice the same; and all of it taken back.
  Seed forged;
  for (const int boards : {4, 1, 8, 5, 12, 0x54}) {
    forged(Step::rail_announce, {boards, 0})(Step::connect_request, {0, 1, boards})(Step::eager, {0, 0, 20});
    forged(Step::honest_send, {kLarge})(Step::rail_way, {4})(Step::connect_request, {0, 1, boards + 1});
    forged(Step::eager, {3, 0, 20})(Step::rail_way, {0})(Step::time, {kMilli});
  }
  forged(Step::rail_announce, {0, 64})(Step::connect_request, {0, 0})(Step::rail_announce, {0, 128});
  forged(Step::connect_request, {0, 0})(Step::send, {kHuge << 2})(Step::rail_way, {1})(Step::pull, {0, 0, 0});
  write_rails(folder, "rails_forged", forged);

  // The honest peer's board before the sender's own, and the honest peer's endpoint.
  Seed impostor;
  for (const int boards : {1, 4}) {
    impostor(Step::honest_send, {kLarge})(Step::rail_announce, {boards, 64})(Step::connect_request,
                                                                             {4, 1, 0});
    impostor(Step::connect_request, {4, 1, 1, 9})(Step::connect_reply, {4, 1, 0})(Step::time, {kMilli});
    impostor(Step::receive, {kAnySender | kAnyTag, kHuge})(Step::eager, {4, 1, 0, 20})(Step::time, {kResend});
  }
  write_rails(folder, "rails_impostor", impostor);

  // The honest peer's messages while boards lose their carrier, with attackers who speak from everywhere.
  Seed honest;
  for (const int board : {0, 1, 2, 0}) {
    honest(Step::receive, {kAnySender, kHuge})(Step::honest_send, {kHuge})(Step::carrier, {board});
    honest(Step::rail_way, {board | 8})(Step::nack_lib, {0, 0})(Step::truc, {0, 0})(Step::replay, {0, 4, 0});
    honest(Step::lose)(Step::time, {kMilli})(Step::carrier, {board | 4})(Step::send, {kHuge << 2 | 2});
    honest(Step::time, {kResend})(Step::pull, {0, 0, 16})(Step::nack_mcp, {0, 16});
  }
  write_rails(folder, "rails_honest", honest);
}

}  // namespace
}  // namespace omx::fuzz

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: engine_make_corpus FOLDER\n");
    return 2;
  }
  const std::filesystem::path folder = argv[1];
  std::filesystem::create_directories(folder);
  omx::fuzz::write_receiving(folder);
  omx::fuzz::write_sending(folder);
  omx::fuzz::write_peers(folder);
  omx::fuzz::write_boards(folder);
  return 0;
}
