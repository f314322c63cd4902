// SPDX-License-Identifier: BSD-3-Clause
// A second socket at a bulk path's port, by which batches leave without a copy (MSG_ZEROCOPY). The kernel
// reports on the socket's error queue when it no longer reads the memory of a batch. A socket of its own
// keeps these reports away from sleepers, which an error queue wakes, and from the errors of the network
// (udp_errors.h). It is connected to itself, so that nothing arrives here.
//
// The kernel reads the data of a message later than the send call, so only memory may be sent that stays as
// it is until the receiver has all of it. A message ends when its receiver says so. A frame may be sent
// twice, and the second one still wait in a queue then. The application may have written to the memory since.
// But the receiver drops that frame, as any other frame of a message that is complete. If the application
// gives memory back to the system, the kernel keeps the pages until it has sent them. Headers are different:
// the next batch would overwrite them. So they are copied to pages of this object, and a page is used again
// only after the report.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "base/own_fd.h"
#include "link/link_counters.h"
#include "link/packet/zerocopy_policy.h"
#include "link/udp/udp_address.h"
#include "link/udp/zerocopy_pieces.h"

namespace omx::link {

class ZerocopySocket {
 public:
  // `counters` must outlive the object.
  ZerocopySocket(ZerocopyMode mode, LinkCounters& counters) : policy_(mode), counters_(counters) {}
  ~ZerocopySocket();
  ZerocopySocket(const ZerocopySocket&) = delete;
  ZerocopySocket& operator=(const ZerocopySocket&) = delete;

  // Opens the socket beside `bulk`, which is bound to that address and port. Returns false if batches cannot
  // leave without a copy here.
  bool open(int bulk, const InterfaceAddress& own, std::uint16_t port);
  int descriptor() const { return fd_.get(); }
  ZerocopyPolicy& policy() { return policy_; }
  // Sends a batch of datagrams of `segment` bytes. Returns false when it must be copied instead.
  bool send(const iovec* pieces, std::size_t count, const PassingMemory& passing, const SocketAddress& to,
            std::size_t segment);
  // Reads the kernel's reports.
  void reports_take();

  static constexpr std::uint32_t kPages = 32;  // the most batches that were not reported yet

 private:
  bool page_find();
  void reported(std::uint32_t first, std::uint32_t last, bool copied);

  static constexpr std::size_t kPieces = 2 * kZerocopyPages + 2;

  ZerocopyPolicy policy_;
  LinkCounters& counters_;
  OwnFd fd_;
  std::byte* pages_ = nullptr;  // mapped: pages that the kernel still reads outlive the object
  std::uint32_t next_ = 0;      // the kernel's number of the next batch; its page is the number's remainder
  std::uint32_t unreported_ = 0;
  std::array<bool, kPages> used_{};
  std::array<iovec, kPieces> pieces_;
};

}  // namespace omx::link
