// SPDX-License-Identifier: BSD-3-Clause
// Several boards of one endpoint (docs/explanation/rails.md): for each of ours the way to a partner that has
// several, too.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <unordered_map>

#include "protocol/types.h"
#include "wire/codec.h"
#include "wire/packets.h"

namespace omx::protocol {

using wire::kRailsMost;

// From one of our boards to one of the partner's.
//
//   unknown --answer to a probe--> up --missed, while another one works--> suspected --answer--> up
enum class RailState : std::uint8_t { unknown, up, suspected };

struct RailPath {
  RailState state = RailState::unknown;
  std::uint8_t to = 0;       // which of its boards
  std::uint8_t tries = 0;    // probes in a row without an answer
  std::uint32_t frame = 0;   // the largest that came back
  std::uint32_t cookie = 0;  // of the probe on its way; 0: none
  TimeNs probe_due = 0;      // not before
  TimeNs heard = 0;          // the last frame that came by it
  // Suspected, it was silent since then. That it was only slow makes us patient with it for a while.
  TimeNs silent_since = 0;
  TimeNs patience = 0, patience_until = 0;
  bool up() const { return state == RailState::up; }
};

struct Rails {
  std::uint8_t count = 0;  // of ours
  std::uint8_t home = 0;   // by which all goes but the data of large messages
  wire::RailNics peer;
  TimeNs doubted = 0;                      // since then nothing came by it that should have; 0: all did
  std::array<RailPath, kRailsMost> paths;  // by our board
};

struct State;
struct Partner;
struct Pull;
struct PullBlock;
// The boards of partners that they are not known by, with their endpoint.
using RailAliases = std::unordered_map<std::uint64_t, Partner*>;

// Shorter messages take the nearest board.
inline constexpr std::uint32_t kRailBytes = 64 * 1024;

void rails_agree(State& s, Partner& p, const wire::ConnectExt& ext);
void rails_forget(State& s, Partner& p);
// Whose frame it is: one from another board of a partner becomes its own.
void rails_source(State& s, wire::Head& head, wire::Frame frame);
// The same of a CONNECT, which says who it is. False: nobody is known by the board that it was sent to.
bool rails_connect(State& s, wire::Head& head, const wire::Connect& packet);
// Something came from it by `rx_rail`; `follows`: it believes that this is where we listen.
void rails_heard(State& s, Partner& p, bool follows);
wire::Head rail_head(const State& s, const Partner& p, wire::PacketType type, unsigned rail);
// Which boards may carry replies with so many data bytes, as bits.
unsigned rails_usable(const State& s, const Partner& p, std::uint32_t unit);
// Probes what is not known to work and is due.
void rails_tend(State& s, Partner& p);
TimeNs rails_due(const State& s, const Partner& p);
void rails_probe_received(State& s, Partner& p, const wire::Probe& packet, std::size_t size);
// What left by the home path at `since` was not answered.
void rails_doubt(State& s, Partner& p, TimeNs since);
// Doubts the home path because `oldest`, which is sent again, was not answered.
void rails_doubt_of(State& s, Partner& p, const Request& oldest);
// What was asked for by a board did not come for long; asks for it by another.
void rails_late(State& s, Pull& pull, PullBlock& block);
TimeNs rails_patience(const State& s, const Partner& p);
bool rail_is_late(const State& s, const Pull& pull, const PullBlock& block);
// The interface of one of our boards lost its carrier, or has it again.
void rail_carrier(State& s, unsigned rail, bool up);

}  // namespace omx::protocol
