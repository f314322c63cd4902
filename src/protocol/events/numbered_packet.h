// SPDX-License-Identifier: BSD-3-Clause
// Numbered packets of any type, decoded.
#pragma once

#include <cstddef>
#include <cstdint>

#include "protocol/state/seqnum.h"
#include "wire/codec.h"
#include "wire/packets.h"

namespace omx::protocol {

struct Partner;
struct State;

// One decoded packet of any numbered type.
struct Numbered {
  wire::PacketType type;
  std::uint32_t session = 0;
  Seqnum seqnum = 0, piggyack = 0;
  std::uint32_t fragment = 0, fragments = 1;
  std::uint32_t unit = 0;
  wire::Eager eager;
  wire::Medium medium;
  wire::Rndv rndv;
  wire::Notify notify;
  // The data of a medium message (nullptr: already in their place), or the tail of an RNDV.
  const std::byte* data = nullptr;
  bool packed = false;  // came in a frame with other messages
  bool kept = false;    // came early and was kept until now
};

void numbered_take(Numbered& n, const wire::Message& m);
wire::Drop numbered_decode_medium(State& s, const Partner* p, bool extended, wire::Frame frame, Numbered& n);
wire::Drop numbered_decode(State& s, const Partner* p, wire::Frame frame, Numbered& n);

}  // namespace omx::protocol
