// SPDX-License-Identifier: BSD-3-Clause
// Packet sockets that may be given to a user who is not trusted. The process must have a Seal.
#pragma once

#include <cstdint>
#include <optional>

#include "base/expected.h"
#include "base/own_fd.h"
#include "link/packet/packet_ring.h"
#include "tools/broker/kernel/private_network.h"

namespace omx::broker {

// Opens a packet socket in the private network. It belongs to this process's cgroup and receives nothing yet.
Result<OwnFd> packet_socket_open(const PrivateNetwork& network);

// Returns the number by which the kernel's programs know a socket. No two sockets since boot have the same.
Result<std::uint64_t> socket_cookie(int fd);

struct SealOptions {
  std::uint32_t ifindex = 0;                              // in the private network
  std::optional<link::RingGeometry> ring = std::nullopt;  // a receive ring, or else a buffer
  int receive_buffer = 0;                                 // bytes; 0: as the kernel gave it
  int send_buffer = 0;                                    // bytes; 0: as the kernel gave it
  std::uint32_t slot = 0;                                 // of its grant
  // Frames skip the queueing layer of the macvlan. They still pass the NIC's.
  bool bypass_queue = false;
};

// Prepares an open packet socket with the receive program, binds it and seals it. Afterwards no one can set
// any option, bind it elsewhere or make it join a group. Fails if the seal does not hold.
Result<void> packet_socket_seal(int fd, int receive_program, const SealOptions& options);

}  // namespace omx::broker
