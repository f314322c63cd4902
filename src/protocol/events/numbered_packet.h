// SPDX-License-Identifier: BSD-3-Clause
// Packets that carry a sequence number (TINY, SMALL, MEDIUM, RNDV, NOTIFY), decoded. The short messages of a
// PACK look like TINY and SMALL.
#pragma once

#include <cstddef>
#include <cstdint>

#include "protocol/state/seqnum.h"
#include "wire/codec.h"
#include "wire/packets.h"

namespace omx::protocol {

struct Peer;
struct State;

// A decoded packet of any of these types.
struct Numbered {
  Numbered() : eager() {}

  wire::PacketType type = wire::PacketType::tiny;
  std::uint32_t session = 0;
  Seqnum seqnum = 0, piggyack = 0;
  std::uint32_t fragment = 0, fragments = 1;
  std::uint32_t unit = 0;  // bytes of a full fragment of a medium message
  // The one that `type` says. Setting up all of them took longer than reading one.
  union {
    wire::Eager eager;
    wire::Medium medium;
    wire::Rndv rndv;
    wire::Notify notify;
  };
  // The data of a short message or of a medium fragment, or the tail of an RNDV (its last `rndv.tail` bytes).
  // nullptr: the data of a fragment are already where they belong.
  const std::byte* data = nullptr;
  bool packed = false;    // came in a PACK
  bool asks_ack = false;  // its sender waits for the acknowledgement
  bool kept = false;      // came ahead of a missing one and was in the reorder buffer until now
};

// Copies session, number, acknowledgement and the wish for one from the header `m`.
void numbered_take(Numbered& n, const wire::Message& m);
wire::Drop numbered_decode_medium(State& s, const Peer* p, bool extended, wire::Frame frame, Numbered& n);
wire::Drop numbered_decode(State& s, const Peer* p, wire::Frame frame, Numbered& n);

}  // namespace omx::protocol
