// SPDX-License-Identifier: BSD-3-Clause
// The interface that a packet link is bound to. Finds out whether the interface is up, and adapts the link
// when it changes.
#pragma once

#include <cstdint>

#include "link/ethernet/data_socket.h"
#include "link/ethernet/frame_ring.h"
#include "link/ethernet/packet_bulk_path.h"
#include "link/ethernet/wakeup_socket.h"
#include "link/interface_watch.h"
#include "link/link_counters.h"

namespace omx::link {

class PacketInterface final : public InterfaceWatch {
 public:
  // All arguments must outlive the object.
  PacketInterface(DataSocket& socket, WakeupSocket& wakeup, FrameRing& ring, PacketBulkPath& bulk,
                  LinkCounters& counters)
      : socket_(socket),
        wakeup_(wakeup),
        ring_(ring),
        bulk_(bulk),
        counters_(counters),
        known_(socket.state().nic) {}

  NicId nic() const override { return socket_.state().nic; }
  std::uint32_t mtu() const override { return socket_.state().mtu; }
  bool refresh() override;
  Outage outage() const override { return outage_; }
  InterfaceState now() const override { return now_; }
  int follow() override;

 private:
  DataSocket& socket_;
  WakeupSocket& wakeup_;
  FrameRing& ring_;
  PacketBulkPath& bulk_;
  LinkCounters& counters_;
  NicId known_;  // the address that peers know, whatever the interface has now
  Outage outage_ = Outage::none;
  InterfaceState now_;  // if the interface is gone: what has its name
};

}  // namespace omx::link
