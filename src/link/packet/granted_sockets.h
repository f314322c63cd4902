// SPDX-License-Identifier: BSD-3-Clause
// The packet sockets of one endpoint, made by a process with the right to do so (src/broker). No option of
// these sockets can be changed any more. What they take is chosen in memory that their filters read.
#pragma once

#include <cstdint>
#include <optional>

#include "base/expected.h"
#include "base/own_fd.h"
#include "link/packet/packet_filter.h"
#include "link/packet/packet_ring.h"

namespace omx::link {

// Not thread-safe.
class GrantedSockets {
 public:
  enum class Socket : std::uint8_t { data, bulk, wakeup };
  struct Data {
    OwnFd socket;
    RingGeometry ring;  // requested, never mapped
  };

  GrantedSockets() = default;
  GrantedSockets(const GrantedSockets&) = delete;
  GrantedSockets& operator=(const GrantedSockets&) = delete;
  virtual ~GrantedSockets() = default;

  // Asks for a bound data socket that takes all frames, with a ring that fits the interface's present MTU.
  // The endpoint's former sockets fall silent.
  virtual Result<Data> data() = 0;
  // Asks for a socket beside the data socket that takes nothing yet. Not open when it cannot be had.
  virtual OwnFd bulk() = 0;
  virtual OwnFd wakeup() = 0;
  // Returns whether the grant was revoked. Cheap enough for once a second.
  virtual bool withdrawn() = 0;
  // Chooses which frames of the endpoint a socket takes. nullopt: none.
  virtual void take(Socket socket, std::optional<FrameClass> frames) = 0;
};

}  // namespace omx::link
