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
  // Reads the interface's state again. Returns false while the interface is down, without carrier or gone.
  // Cheap enough for once a second. When the MTU has grown, the receive ring is made again, and frames that
  // wait in it are lost.
  virtual bool refresh() = 0;
  // Returns why the interface carries no frames, as of the last refresh(). May return `readdressed` while
  // refresh() returns true, because frames still leave then.
  virtual Outage outage() const { return Outage::none; }
  // Returns the interface as it was when last read: index, MAC address, MTU.
  virtual InterfaceState now() const { return {}; }
  // Goes on, after Outage::returned, with the interface that has the name now. Frames that waited are lost,
  // and descriptors change. Returns 0 or errno; EOPNOTSUPP means that this transport cannot follow.
  virtual int follow() { return EOPNOTSUPP; }
};

}  // namespace omx::link
