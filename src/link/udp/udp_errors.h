// SPDX-License-Identifier: BSD-3-Clause
// Errors that the network reports in place of a peer (ICMP). The kernel keeps them beside the socket, with
// the returned part of the datagram that they are about. Any host on the path can forge them.
#pragma once

#include <cstddef>
#include <cstdint>

#include "wire/udp_bulk.h"

namespace omx::link {

struct UdpError {
  static constexpr std::size_t kBytesMost = 1024;  // of the datagram; routers send back some 500

  int error = 0;         // errno
  wire::BulkAddress to;  // where the datagram was sent
  wire::BulkAddress by;  // the host that reported the error; no address: this host
  std::size_t bytes = 0;
  std::byte datagram[kBytesMost];
};

// Makes the socket keep errors that the network reports. Sends and receives then report each error once,
// whichever peer it is about.
void udp_errors_keep(int fd, bool ipv4);
// Takes one error. Returns false when none is left.
bool udp_error_take(int fd, UdpError& out);

}  // namespace omx::link
