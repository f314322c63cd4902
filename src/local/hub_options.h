// SPDX-License-Identifier: BSD-3-Clause
// The options that a hub is opened with.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <vector>

#include "base/own_fd.h"
#include "local/place.h"

namespace omx::local {

struct HubOptions {
  Place self;
  std::vector<NicId> nics;           // NICs of this host: frames to them never leave it
  int listener = -1;                 // the socket that peers connect to; not owned
  bool direct = true;                // one copy, where the system permits it
  std::uint32_t rndv_threshold = 0;  // longer messages (in bytes) are read in one copy; 0: as measured
  // Returns whether more threads want to run than there are processors.
  std::function<bool()> crowded = [] { return false; };
  // Connects to the peer's listener. The result is not open, with errno, on failure. ECONNREFUSED: the
  // endpoint does not exist.
  std::function<OwnFd(const Place&)> connect;

  // Returns whether it is a NIC of this host.
  bool stays(NicId nic) const { return std::find(nics.begin(), nics.end(), nic) != nics.end(); }
};

}  // namespace omx::local
