// SPDX-License-Identifier: BSD-3-Clause
// The bulk path of a packet link decides which of its two sockets takes pull replies.
#pragma once

#include <cstddef>
#include <cstdint>

#include "link/bulk_path.h"
#include "link/ethernet/bulk_socket.h"
#include "link/ethernet/data_socket.h"
#include "link/link_counters.h"

namespace omx::link {

//              expect()               forgo()
//   closed ---------------> takes ---------------> rest: open, takes none
//    ^  |                     ^                      |  |
//    |  | it cannot be had    +----------------------+  |
//    |  v                           expect()            |
//    |  refused                                         |
//    +----+---------------------------------------------+
//                          close()
//
class PacketBulkPath final : public BulkPath {
 public:
  // Both arguments must outlive the path.
  PacketBulkPath(DataSocket& socket, LinkCounters& counters) : socket_(socket), counters_(counters) {}

  bool expect() override;
  bool forgo() override;
  void close() override;
  std::size_t receive(BulkHandler& handler, std::size_t budget) override {
    return bulk_.is_open() ? bulk_.receive(handler, budget, counters_) : 0;
  }
  int descriptor() const override { return bulk_.descriptor(); }

  // Returns what the filter of the data socket should let pass.
  FrameClass rest() const { return takes_ ? FrameClass::eager : FrameClass::all; }
  // Makes room for frames of this MTU, or leaves large messages to the ring.
  void fit(std::uint32_t mtu) {
    if (!bulk_.fit(mtu) && forgo()) refused_ = true;
  }
  // Starts again, because the data socket is replaced by one that takes all frames.
  void reset();

 private:
  bool admit();
  bool open(const InterfaceState& state);

  DataSocket& socket_;
  LinkCounters& counters_;
  BulkSocket bulk_;
  unsigned replacements_ = 0;  // of the data socket that the bulk socket stands beside
  bool refused_ = false;
  bool takes_ = false;  // this path takes pull replies; otherwise the ring does
};

}  // namespace omx::link
