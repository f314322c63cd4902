// SPDX-License-Identifier: BSD-3-Clause
// Receives by UDP what comes in trains, and their data straight into their place, as bulk_lane does it frame
// by frame.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "base/own_fd.h"
#include "link/link.h"
#include "link/udp_address.h"
#include "link/udp_datagram.h"

namespace omx::link {

class UdpLane {
 public:
  UdpLane();
  ~UdpLane();
  // Of the interface's address, if it has one. `port` 0: any. errno says why not.
  bool open(const std::string& interface, std::uint32_t ifindex, std::uint32_t mtu, std::uint16_t port);
  bool is_open() const { return fd_.open(); }
  int descriptor() const { return fd_.get(); }
  std::uint32_t ifindex() const { return own_.ifindex; }
  LaneInfo info() const { return info_; }
  // Like Link::bulk_receive.
  std::size_t receive(BulkHandler& handler, std::size_t budget, LinkCounters& counters);

 private:
  struct Memory;

  std::size_t prepare(BulkHandler& handler);
  void hand_over(BulkHandler& handler, std::size_t places, const Datagram& train, NicId sender,
                 LinkCounters& counters);
  void gather(std::size_t offset, std::size_t length, std::byte* out) const;

  OwnFd fd_;
  InterfaceAddress own_;
  LaneInfo info_;
  std::unique_ptr<Memory> memory_;
};

}  // namespace omx::link
