// SPDX-License-Identifier: BSD-3-Clause
// One call of a simulated application: its memory, its arguments, and its outcome.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/random.h"
#include "protocol/types.h"

namespace omx::simulation {

using protocol::TimeNs;

class Instance;

struct Operation {
  protocol::RequestKind kind = protocol::RequestKind::send;
  std::uint64_t id = 0;
  std::uint32_t host = 0;
  std::uint32_t to = 0;          // send, connect
  Instance* instance = nullptr;  // of the host
  protocol::Request* request = nullptr;
  std::vector<std::byte> data;
  std::vector<protocol::Segment> segments;
  std::uint64_t info = 0, mask = 0;
  TimeNs start = 0;
  std::uint64_t losses = 0;  // of the peer, before the call; receive: before it was matched
  bool bad_key = false;
  bool ended = false;
  bool well = false;  // ended with success

  // Fields of a send, which is a message.
  Instance* target = nullptr;         // the instance that the engine was connected to
  bool stale = false;                 // the address names an earlier instance
  bool arrived = false;               // matched at the receiver or kept as unexpected ...
  std::uint64_t receiver_losses = 0;  // ... when the receiver had forgotten the sender this often
  bool delivered = false;
  bool truncated = false;       // its receive was too small
  bool receive_failed = false;  // its receive ended without the data

  TimeNs matched = 0;  // when the model brought message and receive together

  // Fields of a receive.
  std::uint64_t expected = 0;  // id of the message that the model gave it
  bool waiting = false;        // still in the model
  bool cancelled = false;
};

constexpr unsigned kIdShift = 8;          // match information: the message's id ...
constexpr std::uint64_t kTagMask = 0xFF;  // ... above the bits that receives compare

// Splits all of its data into up to five segments, some of them empty.
void operation_split(Operation& operation, Random& random);

// Returns what is wrong with a message in the memory of its receive, or an empty text. Sets `truncated`.
std::string delivery_check(Operation& message, const Operation& receive, const protocol::Completion& c);

// Draws a message length, often one at which the message class changes.
std::size_t length_choose(Random& random, std::size_t largest);

}  // namespace omx::simulation
