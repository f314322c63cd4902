// SPDX-License-Identifier: BSD-3-Clause
// Packet sockets that may be given to a user who is not trusted. The process must have a Seal.
//
// A socket is made in three steps. To open one with a ring takes the kernel some 10 ms, and the program half
// a millisecond; to seal it takes some 10 us. So sockets can be prepared up to there, as they receive nothing
// and cost nothing before they are sealed.
#pragma once

#include <cstdint>
#include <optional>

#include "base/expected.h"
#include "base/own_fd.h"
#include "link/packet/packet_ring.h"
#include "tools/broker/kernel/private_network.h"

namespace omx::broker {

struct SocketMemory {
  std::optional<link::RingGeometry> ring = std::nullopt;  // a receive ring, or else a buffer
  int receive_buffer = 0;                                 // bytes; 0: as the kernel gave it
  int send_buffer = 0;                                    // bytes; 0: as the kernel gave it
  // Frames skip the queueing layer of the macvlan, and with it the macvlan's egress hook: only where the
  // program is at the NIC.
  bool bypass_queue = false;
};

// Opens a packet socket in the private network. It belongs to this process's cgroup.
Result<OwnFd> packet_socket_open(const PrivateNetwork& network, const SocketMemory& memory = {});

// Returns the number by which the kernel's programs know a socket. No two sockets since boot have the same.
Result<std::uint64_t> socket_cookie(int fd);

// Attaches the receive program. No one can replace or detach it.
Result<void> packet_socket_lock(int fd, int receive_program);

// Whether the holder can bind a sealed socket again, to another protocol or interface of the private network.
// The programs let nothing else pass even then. `fixed` sockets are in a fanout group of their own, which
// forbids it and costs some 40 ns for each frame received (veth, Linux 6.18).
enum class Binding : std::uint8_t { loose, fixed };

// Binds the socket to an interface of the private network and seals it with the slot of its grant. Afterwards
// no one can set any option. Fails if the socket has no locked program, or if the seal does not hold.
Result<void> packet_socket_seal(int fd, std::uint32_t ifindex, std::uint32_t slot,
                                Binding binding = Binding::loose);

}  // namespace omx::broker
