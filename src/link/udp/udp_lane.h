// SPDX-License-Identifier: BSD-3-Clause
// Large messages by UDP, beside a link: sends trains, and receives their data straight into their place, as
// bulk_lane does it frame by frame.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "base/own_fd.h"
#include "link/link.h"
#include "link/udp/udp_address.h"
#include "link/udp/udp_datagram.h"
#include "link/udp/udp_train.h"

namespace omx::link {

class UdpLane {
 public:
  // `counters` must outlive it.
  explicit UdpLane(LinkCounters& counters);
  ~UdpLane();
  // `mtu`: of the interface. `port` 0: any. errno says why not.
  bool open(const std::optional<InterfaceAddress>& own, std::uint32_t mtu, std::uint16_t port);
  int descriptor() const { return fd_.get(); }
  LaneInfo info() const { return info_; }
  // A frame for another lane, of an open one; flush() does nothing otherwise.
  wire::TxFrame& begin(const wire::LaneAddress& to, std::uint32_t max_segments);
  void commit();
  void flush();
  // Like Link::bulk_receive; nothing when it is not open.
  std::size_t receive(BulkHandler& handler, std::size_t budget);

 private:
  struct Memory;

  std::size_t prepare(BulkHandler& handler);
  void hand_over(BulkHandler& handler, std::size_t places, const Datagram& train, NicId sender);
  void gather(std::size_t offset, std::size_t length, std::byte* out) const;

  LinkCounters& counters_;
  OwnFd fd_;
  InterfaceAddress own_;
  LaneInfo info_;
  std::unique_ptr<Memory> memory_;
  std::optional<UdpTrain> train_;
  wire::LaneAddress to_;  // of the frame that is being made
};

}  // namespace omx::link
