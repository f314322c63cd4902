// SPDX-License-Identifier: BSD-3-Clause
// A received datagram is one frame, or several frames of one size that the kernel joined.
#pragma once

#include <sys/socket.h>

#include <cstddef>
#include <memory>
#include <optional>

#include "base/mac.h"
#include "wire/codec.h"
#include "wire/udp_bulk.h"

namespace omx::link {

inline constexpr std::size_t kDatagramMost = 64 << 10;

struct UdpArrival {
  std::size_t bytes = 0;    // of all frames
  std::size_t segment = 0;  // of each frame; the last may be shorter
  bool cut = false;         // the buffer was too small for all
  bool marked = false;      // a queue on the path marked it (ECN)
  wire::BulkAddress from;
  std::size_t frames() const { return bytes == 0 ? 1 : (bytes + segment - 1) / segment; }
};

// Receives a datagram into `pieces`, without waiting. Returns nullopt when none is there (EAGAIN) or on an
// error, with errno set. With `from`, the socket is connected to that address.
std::optional<UdpArrival> datagram_receive(int fd, iovec* pieces, std::size_t count,
                                           const wire::BulkAddress* from = nullptr);

// Returns the NIC that sent a frame of at least wire::kHeadBytes.
inline NicId frame_source(const std::byte* frame) {
  constexpr std::size_t kSourceAt = 6;
  return mac_load(frame + kSourceAt);
}

// A received datagram with memory of its own.
class UdpDatagram {
 public:
  // Receives a datagram. Returns false when none is there (EAGAIN) or on an error, with errno set.
  bool receive(int fd, const wire::BulkAddress* from = nullptr);
  // Does the same as receive(), by a connected socket for which the kernel joins no datagrams.
  bool receive_lone(int fd, const wire::BulkAddress& from);
  const wire::BulkAddress& from() const { return datagram_.from; }
  std::size_t frames() const { return datagram_.frames(); }  // at least 1
  // Returns whether a queue on the path marked the datagram (ECN). receive_lone() does not look.
  bool marked() const { return datagram_.marked; }
  template <class Function>
  void for_each(Function function) const {
    for (std::size_t at = 0; at < datagram_.bytes; at += datagram_.segment) {
      const std::size_t length = std::min(datagram_.segment, datagram_.bytes - at);
      function(wire::Frame{memory_.get() + at, length});
    }
  }

 private:
  std::unique_ptr<std::byte[]> memory_;
  UdpArrival datagram_;
};

}  // namespace omx::link
