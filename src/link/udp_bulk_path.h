// SPDX-License-Identifier: BSD-3-Clause
// The UDP bulk path is a facet of a transport of any kind: large messages travel as GSO batches of
// datagrams.
#pragma once

#include <cstddef>
#include <cstdint>

#include "link/bulk_path.h"
#include "wire/udp_bulk.h"

namespace omx::link {

// The properties of a link's UDP bulk path.
struct BulkInfo {
  wire::BulkAddress address;  // for peers; not present: no bulk path
  unsigned network_bits = 0;  // of the address
  bool fragments = false;     // it is also faster for the fragments of medium messages
  std::uint32_t window = 0;   // bytes that its socket holds
};

// The transport owns the path. Only the thread that owns the transport may call it. Frames leave by
// FrameSink::bulk_begin().
class UdpBulkPath {
 public:
  virtual ~UdpBulkPath() = default;
  virtual BulkInfo info() const = 0;
  // Does as BulkPath::receive().
  virtual std::size_t receive(BulkHandler& handler, std::size_t budget) = 0;
  // Returns the descriptor to sleep on, which does not change while the transport lives.
  virtual int descriptor() const = 0;
};

}  // namespace omx::link
