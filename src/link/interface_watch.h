// SPDX-License-Identifier: BSD-3-Clause
// The state of the interface that a transport is bound to. A facet that each transport has.
#pragma once

#include <cerrno>
#include <cstdint>

#include "base/mac.h"
#include "netdev/interface_state.h"

namespace omx::link {

// The transport owns it. Only the thread that owns the transport may call it.
class InterfaceWatch {
 public:
  virtual ~InterfaceWatch() = default;
  virtual NicId nic() const = 0;
  virtual std::uint32_t mtu() const = 0;  // bytes; as last read by refresh()
  // Reads interface state again: false while the interface is down, without carrier or gone. Cheap enough for
  // once a second. When the MTU has grown the receive ring is made again, and frames that wait in it are
  // lost.
  virtual bool refresh() = 0;
  // Why, as of the last refresh(). It may say `readdressed` while refresh() returns true: frames leave then.
  virtual Outage outage() const { return Outage::none; }
  // The interface, as it was seen last: index, MAC address, MTU.
  virtual InterfaceState now() const { return {}; }
  // After Outage::returned: goes on with the interface that has the name now. Frames that waited are lost,
  // and descriptors are others. Returns 0 or errno; EOPNOTSUPP: this transport stays without it.
  virtual int follow() { return EOPNOTSUPP; }
};

}  // namespace omx::link
