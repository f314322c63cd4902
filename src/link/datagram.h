// SPDX-License-Identifier: BSD-3-Clause
// What only a transport by UDP has: further sockets, errors that the network reports, and limits. A facet of
// a transport. With it Transport::pending() is a system call, which a poll loop does not repeat.
#pragma once

#include <cstdint>
#include <string>

#include "base/mac.h"

namespace omx::link {

struct DatagramLimits {
  std::uint32_t base_frame = 0;  // bytes; the largest frame that any path carries
  std::uint32_t window = 0;      // bytes of frames that the socket holds while no thread polls
};

// The transport owns it. Only the thread that owns the transport may call it. Descriptors do not change; -1:
// there is none.
class Datagram {
 public:
  virtual ~Datagram() = default;
  virtual DatagramLimits limits() const = 0;
  // Returns whether pending() took something from the kernel, which no descriptor reports any more.
  virtual bool holds() const = 0;
  // Lets receive() read the socket of Transport::descriptor(), which polled readable, as soon as the
  // connected fast-path socket is empty.
  virtual void main_poll() = 0;
  // The connected fast-path socket: of the one peer that this endpoint exchanges frames with, if it is one.
  virtual int fast_path_descriptor() const = 0;
  // Lets the next receive() read that socket, which polled readable.
  virtual void fast_path_poll() = 0;
  // The socket for frames of unknown peers, which do not know our address.
  virtual int unknown_peers_descriptor() const = 0;
  // Lets the next receive() read that socket, which polled readable. It does so from time to time in any
  // case.
  virtual void unknown_peers_poll() = 0;
  // Returns whether POLLERR on a descriptor is no trouble of the interface, but about frames that the network
  // could not deliver. The next receive() reads the reason and makes poll() sleep again.
  virtual bool errors_are_news() = 0;
  // Returns why frames to that NIC do not arrive, as far as the network said; else empty. Not proven.
  virtual std::string complaint(NicId nic) const = 0;
};

}  // namespace omx::link
