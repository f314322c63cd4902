// SPDX-License-Identifier: BSD-3-Clause
// The first message on a connection between two hubs, with the descriptor of the ring that its sender writes.
#pragma once

#include <cstdint>

#include "base/mac.h"
#include "base/own_fd.h"
#include "local/ring.h"

namespace omx::local {

// Bytes of a ring. The frames of one turn stay in the second-level cache.
inline constexpr std::size_t kRingBytes = 512 * 1024;

struct Hello {
  static constexpr std::uint32_t kMagic = 0x4f4d584c;
  std::uint32_t magic = kMagic;
  std::uint32_t version = kRingVersion;
  NicId nic = 0;
  std::uint64_t ring_bytes = kRingBytes;
  std::uint64_t proof_at = 0;  // in the sender's memory: memory_access.h
  std::uint32_t endpoint = 0;
  std::uint32_t reserved = 0;
};

// Sends a hello with the descriptor of the ring's memory. Returns false if the connection does not take it.
bool hello_send(int connection, const Hello& hello, int memory);
// Receives a hello. Returns 1 if `hello` and `memory` are filled, and 0 if nothing has come yet. Returns -1
// if the peer hung up or sent something else.
int hello_receive(int connection, Hello& hello, OwnFd& memory);

}  // namespace omx::local
