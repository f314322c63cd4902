// SPDX-License-Identifier: BSD-3-Clause
// The stage of a hostile peer: a victim, an honest peer, virtual time, and the cable between them. Attackers
// are no endpoints: their frames come from the script (attacker.h).
#pragma once

#include <deque>
#include <functional>
#include <memory>

#include "protocol/endpoint.h"
#include "protocol/state/state.h"
#include "tests/fuzz/engine/book.h"
#include "tests/fuzz/engine/script.h"

namespace omx::fuzz {

using protocol::kMillisecond;
using protocol::Peer;
using protocol::Request;
using protocol::TimeNs;

inline constexpr NicId kVictimNic = 0x020000000001;
inline constexpr NicId kHonestNic = 0x020000000002;
inline constexpr NicId kAttackerNic = 0x0200000000A0;  // and the next number
inline constexpr NicId kFloodNic = 0x060000000000;
// Returns the further boards of a host that has several.
inline constexpr NicId board_nic(NicId nic, unsigned board) {
  return nic + (NicId{board} << 24);
}
inline constexpr std::uint8_t kVictimEndpoint = 2, kHonestEndpoint = 1;
// An attacker's endpoint on the honest peer's host. The host's filter lets no frame pass that names another
// endpoint as its source.
inline constexpr std::uint8_t kNeighbourEndpoint = 5;
inline constexpr std::uint32_t kVictimSession = 0x11112222, kHonestSession = 0x33334444;
inline constexpr std::uint32_t kKey = 7;
inline constexpr TimeNs kPeerTimeout = 4000 * kMillisecond;

struct Setup {
  explicit Setup(Script& script);
  protocol::Config victim, honest;
  // Attackers may send in the honest peer's name, and the MTU may change. Then the honest peer's messages may
  // be lost.
  bool relaxed = false;
  bool attacker_extended = true;
  bool attacker_connected = false;
  unsigned boards = 1;  // boards of the victim, and of attackers (docs/explanation/rails.md)
  // Returns whether all of the honest peer's messages must arrive. Without extension, a message that finds no
  // room because the victim's application does not receive is given up after the time-out (retransmit.cc).
  bool lossless() const { return !relaxed && victim.extension && honest.extension; }
};

// Returns the bulk path that the NIC's endpoint announces if it is honest.
wire::BulkAddress bulk_of(NicId nic);

class Scene;

// An endpoint whose frames go to the scene.
class Node : public wire::FrameSink {
 public:
  Node(Scene& scene, const protocol::Config& config) : endpoint(config, *this, counters), scene_(scene) {}
  wire::TxFrame& frame_begin(std::uint32_t max_segments) override;
  wire::TxFrame& bulk_begin(const wire::BulkAddress& to, std::uint32_t max_segments) override;
  void frame_commit() override;
  void flush() override {}
  // Receives a frame by the board that it is addressed to.
  void hear(TimeNs now, const Bytes& frame);

  protocol::Counters counters;
  protocol::Endpoint endpoint;

 private:
  Scene& scene_;
  wire::TxFrame frame_;
  std::vector<iovec> segments_;
  wire::BulkAddress bulk_;  // of the frame under construction; not present: by the link
};

// A program beside the endpoints. It is called after every step, to check completions.
class Player {
 public:
  virtual ~Player() = default;
  virtual void look() = 0;
};

class Scene {
 public:
  explicit Scene(const Setup& setup);

  protocol::State& state() { return victim.endpoint.state(); }
  // Connects victim and honest peer in both directions, before anything else.
  void introduce();
  void advance(TimeNs time);
  // Delivers one frame of an attacker to the victim, and checks the effects.
  void attack(const Bytes& frame, bool progress);
  void sent(const Node& from, Bytes frame, const wire::BulkAddress& bulk);

  const Setup& setup;
  TimeNs now = kMillisecond;
  Node victim, honest;
  Peer* to_honest = nullptr;  // the victim's view of it
  Peer* to_victim = nullptr;  // the honest peer's view of it
  std::vector<Player*> players;
  std::deque<Bytes> seen;    // frames on the segment, as a switch that floods shows them
  std::uint32_t losing = 0;  // frames between the two that will be lost

 private:
  struct Flying {
    TimeNs at;
    Bytes frame;
  };
  void deliver();
  void look();

  std::deque<Flying> to_victim_, to_honest_;
  std::uint64_t frames_out_ = 0;
};

}  // namespace omx::fuzz
