// SPDX-License-Identifier: BSD-3-Clause
// A hostile peer. It sends valid packets of every type, with all values in them that it could know or guess
// (session, handle, generation, next number ...). The script makes some of them wrong. The attacker sees into
// the victim, so that the fuzzer need not guess.
#pragma once

#include "tests/fuzz/engine/scene.h"

namespace omx::fuzz {

class Attacker {
 public:
  explicit Attacker(Scene& scene) : scene_(scene) {}

  // Plays one step of the script: one frame or a few.
  void play(Step step, Script& script);

 private:
  // The sender of a frame, and what the victim knows of it.
  struct Sender {
    NicId nic = kAttackerNic;
    std::uint8_t endpoint = 0;
    std::uint8_t to_endpoint = kVictimEndpoint;
    std::uint16_t peer_index = 0;
    bool progress = true;
    bool checksum = false;
    bool extended = false;
    wire::Mode mode = wire::Mode::omx;
    Partner* partner = nullptr;
  };
  Sender sender_read(Script& script);
  // Encodes with `encode(buffer, head)`, adds data and the other parts of a frame, and sends it.
  template <class Encode>
  void transmit(const Sender& from, wire::PacketType type, Encode encode, std::size_t data = 0);
  void transmit_frame(const Sender& from, Bytes frame);
  std::uint8_t flags(const Sender& from, std::uint8_t others) const;
  // Fills in the fields that TINY, SMALL, MEDIUM and RNDV share.
  void message_fill(const Sender& from, Script& script, wire::Message& m);

  void connect(const Sender& from, Script& script, bool reply);
  void eager(const Sender& from, Script& script);
  void pack(const Sender& from, Script& script);
  void medium(const Sender& from, Script& script);
  void rndv(const Sender& from, Script& script);
  void pull(const Sender& from, Script& script);
  void pull_reply(const Sender& from, Script& script);
  void notify(const Sender& from, Script& script);
  void truc(const Sender& from, Script& script);
  void nack_lib(const Sender& from, Script& script);
  void nack_mcp(const Sender& from, Script& script);
  void probe(const Sender& from, Script& script);
  void raw(const Sender& from, Script& script);
  // attacker_rails.cc: choose the boards by which frames go and which connects announce, from now on.
  void rail_way(Script& script);
  void rail_announce(Script& script);
  void rail_probe(const Sender& from, Script& script);
  void announcement_fill(const Sender& from, wire::ConnectExt& ext) const;
  void replay(const Sender& from, Script& script);
  void flood(Script& script);

  // Returns a region that a send owns, of the sender's own sends or of anyone's.
  const Request* region_pick(const Sender& from, std::uint8_t n, bool anybody) const;
  protocol::Pull* pull_pick(const Sender& from, std::uint8_t n, bool anybody) const;

  Scene& scene_;
  unsigned to_board_ = 0, from_board_ = 0;
  std::uint8_t announced_ = 0, announced_count_ = 0;
};

template <class Encode>
void Attacker::transmit(const Sender& from, wire::PacketType type, Encode encode, std::size_t data) {
  std::byte buffer[wire::kHeaderCapacity] = {};
  const wire::Head head{kVictimNic, from.nic, from.peer_index, type};
  const std::size_t n = encode(buffer, head);
  Bytes frame(buffer, buffer + n);
  frame.resize(n + data, kPublic);
  transmit_frame(from, std::move(frame));
}

}  // namespace omx::fuzz
