// SPDX-License-Identifier: BSD-3-Clause
// The peers of an engine, and figures of the engine and of its peers.
#pragma once

#include <cstddef>
#include <cstdint>

#include "protocol/counters.h"
#include "protocol/types.h"
#include "wire/codec.h"

namespace omx::protocol {

struct Snapshot;
struct State;

class EndpointFacts {
 public:
  Peer* self();
  Peer* find_peer(NicId nic, std::uint8_t endpoint);
  Peer* peer_at(std::uint32_t index);  // nullptr if there is none
  std::uint32_t peer_count() const;
  // Bytes. Those of peers are with their tables and with the pools of what a peer has only at times. Those of
  // requests are with the timers that run, or ran at one time.
  struct Memory {
    std::size_t peers = 0, requests = 0, buffers = 0, peer_object = 0;
  };
  Memory memory() const;
  const Counters& counters() const;
  void snapshot(TimeNs now, Snapshot& out);
  // Returns the size of the largest message that is sent eagerly to this peer.
  std::uint32_t eager_max(const Peer* peer) const;

 protected:
  explicit EndpointFacts(State& state) : state_(&state) {}
  ~EndpointFacts() = default;

 private:
  State* state_;
};

// Facts about a peer.
struct PeerInfo {
  NicId nic = 0;
  std::uint8_t endpoint = 0;
  std::uint32_t index = 0;
  std::uint32_t session = 0xFFFFFFFF;          // of the remote endpoint, if known
  std::uint32_t conversation = 0;              // the open one, or the next
  std::uint32_t ended_session = 0xFFFFFFFF;    // of the remote endpoint, in the last one that ended
  Status gone = Status::endpoint_unreachable;  // how the last conversation ended
  bool extended = false;
  bool checksum = false;
  wire::Mode mode = wire::Mode::omx;
  wire::Mode mode_told = wire::Mode::omx;  // what the peer itself is set to, if it is extended
  std::uint32_t frame_max = 0;             // largest frame proven towards the peer
  std::uint32_t frame_agreed = 0;          // what both ends announced
};
PeerInfo peer_info(const Peer* peer);
// Tell whether messages can be sent, and to which instance.
bool peer_connected(const Peer* peer);
std::uint32_t peer_session(const Peer* peer);
void* peer_context(const Peer* peer);
void peer_set_context(Peer* peer, void* context);

}  // namespace omx::protocol
