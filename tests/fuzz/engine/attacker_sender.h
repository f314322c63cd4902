// SPDX-License-Identifier: BSD-3-Clause
// Frames in the name of an attacker, or of a peer that it impersonates.
#pragma once

#include <cstdint>

#include "tests/fuzz/engine/scene.h"

namespace omx::fuzz {

class AttackerSender {
 public:
  explicit AttackerSender(Scene& scene) : scene_(scene) {}

 protected:
  // The sender of a frame, and what the victim knows of it.
  struct Sender {
    NicId nic = kAttackerNic;
    std::uint8_t endpoint = 0;
    std::uint8_t to_endpoint = kVictimEndpoint;
    std::uint16_t peer_index = 0;
    bool confined = false;  // by the filter of the honest peer's host
    bool progress = true;
    bool checksum = false;
    bool extended = false;
    wire::Mode mode = wire::Mode::omx;
    Peer* peer = nullptr;
  };
  Sender sender_read(Script& script);
  // Encodes with `encode(buffer, head)`, adds data and the other parts of a frame, and sends it.
  template <class Encode>
  void transmit(const Sender& from, wire::PacketType type, Encode encode, std::size_t data = 0);
  void transmit_frame(const Sender& from, Bytes frame);
  // Makes the frame name its source endpoint. Returns false if its type names none.
  static bool confine(const Sender& from, Bytes& frame);
  std::uint8_t flags(const Sender& from, std::uint8_t others) const;
  // Fills in the fields that TINY, SMALL, MEDIUM and RNDV share.
  void message_fill(const Sender& from, Script& script, wire::Message& m);
  // Returns a message number `delta` away.
  static std::uint16_t number(std::uint16_t base, std::uint8_t delta);

  Scene& scene_;
  unsigned to_board_ = 0, from_board_ = 0;
};

template <class Encode>
void AttackerSender::transmit(const Sender& from, wire::PacketType type, Encode encode, std::size_t data) {
  std::byte buffer[wire::kHeaderCapacity] = {};
  const wire::Head head{kVictimNic, from.nic, from.peer_index, type};
  const std::size_t n = encode(buffer, head);
  Bytes frame(buffer, buffer + n);
  frame.resize(n + data, kPublic);
  transmit_frame(from, std::move(frame));
}

}  // namespace omx::fuzz
