// SPDX-License-Identifier: BSD-3-Clause
// A packet socket to sleep on while a stream passes: it takes the frames that their sender marked as urgent,
// and those of the kinds that come alone (connects, say); not the rest of a stream's frames. The frames
// themselves are read from the data sockets.
#pragma once

#include <cstdint>

#include "base/own_fd.h"
#include "link/fanout/hook_bell.h"

namespace omx::link {

class Bell {
 public:
  // False when the socket cannot be had; that is final.
  bool open(std::uint32_t ifindex, std::uint8_t endpoint, bool board_frames);
  // Of the group that the endpoint's place is in. False: not yet.
  bool open_shared(const HookPlace& beside, std::uint8_t endpoint) { return shared_.open(beside, endpoint); }
  // Another may be opened.
  void close();
  int descriptor() const { return fd_.open() ? fd_.get() : shared_.socket(); }
  // Forgets what rang.
  void clear() const;

 private:
  OwnFd fd_;
  HookBell shared_;
  bool tried_ = false;
};

}  // namespace omx::link
