// SPDX-License-Identifier: BSD-3-Clause
// The records of a run of stalls: streams of numbered messages, and the state of each message on both sides.
#pragma once

#include <cstdint>
#include <vector>

#include "protocol/state/request.h"
#include "simulation/engine/events.h"

namespace omx::simulation {

// One opening of a host's endpoint.
struct Life {
  std::uint32_t host = 0;
  std::uint32_t number = 0;
  bool over = false;
};

// The messages sent under one address of a peer, from the connect that gave it to the first error.
struct Stream {
  const Life* from = nullptr;
  const Life* to = nullptr;
  std::uint32_t generation = 0;  // counts the streams from this life to that host
  TimeNs begun = 0;
  std::uint64_t sent = 0;
  std::uint64_t arrived = 0;
  bool failed = false;                  // the sender got an error ...
  std::uint64_t failed_at = 0;          // ... with this message at the earliest
  std::vector<std::uint64_t> messages;  // ids
};

enum class Class : std::uint8_t { plain, synchronous, forgotten, delivered, injected };

// One call of an application.
struct Call {
  protocol::RequestKind kind = protocol::RequestKind::send;
  Class how = Class::plain;
  std::uint64_t id = 0;  // counts from 1
  std::uint32_t host = 0;
  const Life* life = nullptr;
  std::uint32_t other = 0;  // of a send, connect, or awaited receive
  bool awaited = false;
  protocol::Request* request = nullptr;
  std::vector<std::byte> data;
  protocol::Segment segment;
  TimeNs start = 0;
  TimeNs ran = 0;           // Silence::ran at its start
  std::uint64_t order = 0;  // position of its start in the sequence of all events
  bool ended = false;
  bool well = false;

  // Fields of a message.
  Stream* stream = nullptr;
  std::uint64_t number = 0;   // in its stream
  std::uint64_t arrived = 0;  // position of its arrival in the sequence of all events; 0: not yet
  std::uint64_t dropped = 0;  // dropped by the receiver's engine, before any receive took it
  bool delivered = false;
  bool reported = false;  // its receive ended with an error
  bool lost = false;      // its sender was told that it failed after its success
};

}  // namespace omx::simulation
