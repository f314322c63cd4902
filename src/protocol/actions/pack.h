// SPDX-License-Identifier: BSD-3-Clause
// Coalescing: short messages of a burst share frames (docs/reference/wire.md 14). A frame costs its sender
// and its receiver about a microsecond each, whatever is in it. The messages are numbered, acknowledged and
// repeated one by one.
#pragma once

#include <cstddef>
#include <cstdint>

#include "protocol/state/peer.h"
#include "protocol/state/request.h"
#include "protocol/state/seqnum.h"
#include "protocol/state/state.h"

namespace omx::protocol {

// While this object lives, messages that are sent may wait for more. It ends that also when memory runs out.
class MayPack {
 public:
  MayPack(State& s, bool may, bool announcements = false) : s_(s) {
    s_.packing.allowed = may;
    s_.packing.announces = announcements;
  }
  ~MayPack() { s_.packing.allowed = s_.packing.announces = false; }
  MayPack(const MayPack&) = delete;
  MayPack& operator=(const MayPack&) = delete;

 private:
  State& s_;
};

// Returns room for `bytes` of records to the peer, of the requested kind. Returns nullptr when the records
// must be sent by themselves.
std::byte* pack_room(State& s, Peer& p, bool packets, Seqnum first, std::uint32_t bytes);
// Lets a message join others, to be sent by pack_release(). Returns false when it must be sent by itself.
bool pack_add(State& s, const Request& r);
void pack_release(State& s);
// Drops the messages to a peer that wait for others, because they have failed.
void pack_drop(State& s, const Peer& p);

}  // namespace omx::protocol
