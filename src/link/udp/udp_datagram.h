// SPDX-License-Identifier: BSD-3-Clause
// A datagram as it was received: one frame, or several of one size that the kernel put together.
#pragma once

#include <sys/socket.h>

#include <cstddef>
#include <memory>
#include <optional>

#include "base/mac.h"
#include "wire/codec.h"
#include "wire/lane.h"

namespace omx::link {

inline constexpr std::size_t kDatagramMost = 64 << 10;

struct UdpArrival {
  std::size_t bytes = 0;    // of all
  std::size_t segment = 0;  // of each frame; the last may be shorter
  bool cut = false;         // there was no room for all
  wire::LaneAddress from;
  std::size_t frames() const { return bytes == 0 ? 1 : (bytes + segment - 1) / segment; }
};

// Receives one into `pieces`, without waiting; none: nothing is there, or errno says what else. `from`: the
// socket is connected there.
std::optional<UdpArrival> datagram_receive(int fd, iovec* pieces, std::size_t count,
                                           const wire::LaneAddress* from = nullptr);

// Of a frame of at least wire::kHeadBytes.
inline NicId frame_source(const std::byte* frame) {
  constexpr std::size_t kSourceAt = 6;
  return mac_load(frame + kSourceAt);
}

// With memory of its own.
class UdpDatagram {
 public:
  // False: nothing is there (EAGAIN), or errno says what else.
  bool receive(int fd, const wire::LaneAddress* from = nullptr);
  // The same by a connected socket that puts none together.
  bool receive_lone(int fd, const wire::LaneAddress& from);
  const wire::LaneAddress& from() const { return datagram_.from; }
  std::size_t frames() const { return datagram_.frames(); }  // at least 1
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
