// SPDX-License-Identifier: BSD-3-Clause
// The packet sockets of a network namespace, as the kernel lists them (CONFIG_PACKET_DIAG).
#pragma once

#include <cstdint>
#include <vector>

namespace omx::broker {

struct PacketSocket {
  std::uint64_t cookie = 0;     // SO_COOKIE
  bool classic_filter = false;  // it has a filter that is no eBPF program
  std::uint64_t ring = 0;       // bytes of its receive ring
};

// Lists the packet sockets of the calling thread's network. Returns 0 or errno.
int packet_sockets_list(std::vector<PacketSocket>& sockets);

// Returns whether a sealed socket may be open in the calling thread's network. The kernel does not tell
// marks. But a sealed socket always has an eBPF program, and the sockets of other programs mostly have
// classic filters.
bool sealed_sockets_live();

}  // namespace omx::broker
