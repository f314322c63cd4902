// SPDX-License-Identifier: BSD-3-Clause
// The facet that only a UDP transport has: further sockets, errors that the network reports, and limits. In
// such a transport Transport::pending() is a system call, so a poll loop does not repeat it.
#pragma once

#include <cstdint>
#include <string>

#include "base/mac.h"

namespace omx::link {

struct DatagramLimits {
  std::uint32_t base_frame = 0;  // bytes of the largest frame that every path carries
  std::uint32_t window = 0;      // bytes of frames that the socket holds while no thread polls
};

// The transport owns it. Only the thread that owns the transport may call it. Descriptors do not change; -1
// means that there is none.
class Datagram {
 public:
  virtual ~Datagram() = default;
  virtual DatagramLimits limits() const = 0;
  // Returns whether pending() took something from the kernel, which no descriptor reports any more.
  virtual bool holds() const = 0;
  // Lets receive() read the socket of Transport::descriptor(), which polled readable, as soon as the
  // connected fast-path socket is empty.
  virtual void main_poll() = 0;
  // Returns the connected fast-path socket. It belongs to the only peer with which this endpoint exchanges
  // frames, if there is exactly one.
  virtual int fast_path_descriptor() const = 0;
  // Lets the next receive() read the connected fast-path socket, which polled readable.
  virtual void fast_path_poll() = 0;
  // Returns the socket for frames of unknown peers, which do not know our address.
  virtual int unknown_peers_descriptor() const = 0;
  // Lets the next receive() read the socket for unknown peers, which polled readable. receive() also reads
  // it from time to time without this call.
  virtual void unknown_peers_poll() = 0;
  // Returns whether POLLERR on a descriptor only means that the network could not deliver some frames.
  // Otherwise it is trouble of the interface. The next receive() reads the reason and makes poll() sleep
  // again.
  virtual bool errors_are_news() = 0;
  // Returns why frames to that NIC do not arrive, as far as the network said, else an empty string. The
  // reason is not proven.
  virtual std::string complaint(NicId nic) const = 0;
};

}  // namespace omx::link
