// SPDX-License-Identifier: BSD-3-Clause
// Large messages by UDP, beside a link: sends GSO batches, and receives their data straight into their place,
// as bulk_lane does it frame by frame.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "base/own_fd.h"
#include "link/link_counters.h"
#include "link/udp/gso_batch.h"
#include "link/udp/udp_address.h"
#include "link/udp/udp_datagram.h"
#include "link/udp_bulk_path.h"

namespace omx::link {

class UdpLane final : public UdpBulkPath {
 public:
  // What carries all other frames. Beside raw frames the lane also gains for the fragments of medium
  // messages; beside datagrams routers may be in between, so that only a probe shows whether the lane is
  // reached.
  enum class Beside : std::uint8_t { raw_frames, datagrams };
  // `counters` must outlive it.
  UdpLane(Beside beside, LinkCounters& counters);
  ~UdpLane() override;
  // `mtu`: of the interface. `port` 0: any. errno says why not.
  bool open(const std::optional<InterfaceAddress>& own, std::uint32_t mtu, std::uint16_t port);
  int descriptor() const override { return fd_.get(); }
  LaneInfo info() const override { return info_; }
  // A frame for another lane, of an open one; flush() does nothing otherwise.
  wire::TxFrame& begin(const wire::LaneAddress& to, std::uint32_t max_segments);
  void commit();
  void flush();
  // Nothing when it is not open.
  std::size_t receive(BulkHandler& handler, std::size_t budget) override;

 private:
  struct Memory;

  std::size_t prepare(BulkHandler& handler);
  void hand_over(BulkHandler& handler, std::size_t places, const UdpArrival& batch, NicId sender);
  void gather(std::size_t offset, std::size_t length, std::byte* out) const;

  Beside beside_;
  LinkCounters& counters_;
  OwnFd fd_;
  InterfaceAddress own_;
  LaneInfo info_;
  std::unique_ptr<Memory> memory_;
  std::optional<GsoBatch> batch_;
  wire::LaneAddress to_;  // of the frame that is being made
};

}  // namespace omx::link
