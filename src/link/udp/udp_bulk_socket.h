// SPDX-License-Identifier: BSD-3-Clause
// The UDP bulk path beside a link. Sends GSO batches, and receives their data straight into their place, as
// BulkSocket does frame by frame.
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
#include "link/udp/zerocopy_socket.h"
#include "link/udp_bulk_path.h"

namespace omx::link {

class UdpBulkSocket final : public UdpBulkPath {
 public:
  // The kind of link that carries all other frames. Beside raw frames the bulk path is also faster for the
  // fragments of medium messages. Beside datagrams routers may be on the path, so only a probe shows whether
  // the peer's bulk path is reached.
  enum class Beside : std::uint8_t { raw_frames, datagrams };
  // `counters` must outlive the object.
  UdpBulkSocket(Beside beside, ZerocopyMode zerocopy, LinkCounters& counters);
  ~UdpBulkSocket() override;
  // Opens the path. `mtu` is that of the interface; `port` 0 means any. Returns false with errno set on
  // failure.
  bool open(const std::optional<InterfaceAddress>& own, std::uint32_t mtu, std::uint16_t port);
  int descriptor() const override { return fd_.get(); }
  // Returns the descriptor of the socket that sends without a copy, or -1.
  int zerocopy_descriptor() const { return zerocopy_.descriptor(); }
  BulkInfo info() const override { return info_; }
  // Returns a frame for another bulk path. The path must be open; only flush() may be called on a closed
  // one.
  wire::TxFrame& begin(const wire::BulkAddress& to, std::uint32_t max_segments);
  void commit();
  void flush();
  // Does as FrameSink::marks_forgo().
  void marks_forgo();
  // Receives nothing when the path is not open.
  std::size_t receive(BulkHandler& handler, std::size_t budget) override;

 private:
  struct Memory;

  std::size_t prepare(BulkHandler& handler);
  std::size_t hand_over(BulkHandler& handler, std::size_t places, const UdpArrival& batch,
                        const wire::FrameSender& sender);
  bool whole_frame(const UdpArrival& batch) const;
  std::size_t gather(std::size_t offset, std::size_t length, std::byte* out) const;

  Beside beside_;
  ZerocopyMode zerocopy_mode_;
  LinkCounters& counters_;
  OwnFd fd_;
  ZerocopySocket zerocopy_;
  InterfaceAddress own_;
  BulkInfo info_;
  std::unique_ptr<Memory> memory_;
  std::optional<GsoBatch> batch_;
  wire::BulkAddress to_;  // where the frame under way goes
};

}  // namespace omx::link
