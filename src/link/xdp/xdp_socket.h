// SPDX-License-Identifier: BSD-3-Clause
// The AF_XDP socket of one endpoint. It has two rings, and moves frames into and out of the memory of its
// process's port. Only one thread at a time may use it.
#pragma once

#include <array>
#include <memory>
#include <vector>

#include "link/frame_handler.h"
#include "link/link_counters.h"
#include "link/xdp/xdp_port.h"
#include "wire/frame_io.h"

namespace omx::link {

class XdpSocket {
 public:
  explicit XdpSocket(std::shared_ptr<XdpPort> port) : port_(std::move(port)) {}
  ~XdpSocket();
  // Opens the socket. `frames` is how many may wait, a power of two. Returns 0 or errno.
  int open(std::uint8_t endpoint, std::uint32_t frames, bool busy_poll);
  // Receives frames up to this size to this NIC from now on. Returns 0 or errno.
  int listen(std::uint32_t largest, NicId nic);

  int descriptor() const { return fd_.get(); }
  const XdpPort& port() const { return *port_; }
  bool pending() const {
    return __atomic_load_n(rx_.producer, __ATOMIC_ACQUIRE) != *rx_.consumer ||
           rx_.cached_prod != rx_.cached_cons;
  }
  std::size_t receive(FrameHandler& handler, std::size_t budget, LinkCounters& counters);

  // Returns whether frames of that size can be sent here.
  bool carries(std::size_t bytes) const { return bytes <= send_most_; }
  // Copies the frame and queues it. Returns false when there is no room even after flush().
  bool send(const wire::TxFrame& frame, std::size_t bytes, LinkCounters& counters);
  void flush(LinkCounters& counters);
  // Returns how many frames the kernel dropped since the last call.
  std::uint64_t drops_take();

 private:
  class Taken;
  void whole(FrameHandler& handler, const xdp_desc& piece, LinkCounters& counters);
  bool chunks_find(std::uint32_t count, LinkCounters& counters);
  void drain();

  static constexpr std::size_t kKept = 64;  // pieces taken from the port at once

  std::shared_ptr<XdpPort> port_;
  XdpMapping rx_memory_, tx_memory_;
  OwnFd fd_;
  xsk_ring_cons rx_{};
  xsk_ring_prod tx_{};
  std::uint8_t endpoint_ = 0;
  bool listening_ = false;
  bool busy_poll_ = false;
  std::size_t send_most_ = 0;
  std::uint32_t queued_ = 0;  // descriptors that were not submitted to the kernel yet
  std::size_t kept_ = 0;
  std::array<std::uint64_t, kKept> chunks_{};
  std::vector<std::byte> joined_;  // a frame that came in pieces
  bool joining_ = false;
  std::uint64_t drops_ = 0;
};

}  // namespace omx::link
