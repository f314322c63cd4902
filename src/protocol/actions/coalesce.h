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
class MayCoalesce {
 public:
  MayCoalesce(State& s, bool may, bool announcements = false) : s_(s) {
    s_.coalescing.allowed = may;
    s_.coalescing.announces = announcements;
  }
  ~MayCoalesce() { s_.coalescing.allowed = s_.coalescing.announces = false; }
  MayCoalesce(const MayCoalesce&) = delete;
  MayCoalesce& operator=(const MayCoalesce&) = delete;

 private:
  State& s_;
};

// Returns room for `bytes` of records to the peer, of the requested kind. Returns nullptr when the records
// must be sent by themselves.
std::byte* coalesce_room(State& s, Peer& p, bool packets, Seqnum first, std::uint32_t bytes);
// Lets a message join others, to be sent by coalesce_release(). Returns false when it must be sent by itself.
bool coalesce_add(State& s, const Request& r);
void coalesce_release(State& s);
// Drops the messages to a peer that wait for others, because they have failed.
void coalesce_drop(State& s, const Peer& p);

}  // namespace omx::protocol
