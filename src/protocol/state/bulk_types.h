// SPDX-License-Identifier: BSD-3-Clause
// Bulk paths: how far one is trusted, and what was announced for it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "protocol/state/seqnum.h"
#include "protocol/types.h"

namespace omx::protocol {

// Trust in one direction of a bulk path that failed, or in GSO frames.
struct BulkTrust {
  TimeNs from = 0;        // no use before
  unsigned failures = 0;  // forgotten after the path worked for long
};

// Failures of a peer's bulk path. Most peers have none.
struct BulkDistrust {
  BulkTrust in, out;
  BulkTrust gso;  // that GSO frames to and from the peer come whole
};
using BulkPart = BulkTrust BulkDistrust::*;

// Data that peers announced by our bulk path.
struct BulkAwaited {
  struct Message {
    Peer* from = nullptr;
    Seqnum number = 0;  // newest number; those before it are awaited, too
  };
  TimeNs until = 0;
  TimeNs progress = 0;   // when the last frame of one of `answers` came
  bool replies = false;  // data sent before their announcement, or messages beyond `messages`
  bool more = false;     // answers beyond `answers`
  std::array<std::uint32_t, 8> answers{};  // answers to pulls of which more comes (wire::bulk_answer())
  std::size_t answer_count = 0;
  std::array<Message, 8> messages;
  std::size_t count = 0;
};

}  // namespace omx::protocol
