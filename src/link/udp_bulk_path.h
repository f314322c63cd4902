// SPDX-License-Identifier: BSD-3-Clause
// The bulk path by UDP, beside a transport of any kind: large messages travel as GSO batches of datagrams. A
// facet of a transport.
#pragma once

#include <cstddef>
#include <cstdint>

#include "link/bulk_path.h"
#include "wire/lane.h"

namespace omx::link {

// What a link's UDP lane can do for it.
struct LaneInfo {
  wire::LaneAddress address;  // to tell others; not present: there is none
  unsigned network_bits = 0;  // of the address
  bool fragments = false;     // it also gains for the fragments of medium messages
  std::uint32_t window = 0;   // bytes that its socket holds
};

// The transport owns the path. Only the thread that owns the transport may call it. Frames leave by
// FrameSink::lane_begin().
class UdpBulkPath {
 public:
  virtual ~UdpBulkPath() = default;
  virtual LaneInfo info() const = 0;
  // As BulkPath::receive().
  virtual std::size_t receive(BulkHandler& handler, std::size_t budget) = 0;
  // Does not change while the transport lives.
  virtual int descriptor() const = 0;
};

}  // namespace omx::link
