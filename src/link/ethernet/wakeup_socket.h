// SPDX-License-Identifier: BSD-3-Clause
// A packet socket to sleep on while a stream passes: it takes the frames that their sender marked as urgent,
// and those of the kinds that come alone (connects, say); not the rest of a stream's frames. The frames
// themselves are read from the data sockets.
#pragma once

#include "base/own_fd.h"
#include "link/ethernet/data_socket.h"
#include "link/fanout/fanout_wakeup.h"
#include "link/wakeup.h"

namespace omx::link {

class WakeupSocket final : public Wakeup {
 public:
  // `beside` must outlive it: where that is in a group, this is, too.
  explicit WakeupSocket(DataSocket& beside) : beside_(beside) {}

  // False where the data socket is our own: it cannot be had, which is final. In a group: not yet.
  bool open() override;
  int descriptor() const override { return fd_.open() ? fd_.get() : shared_.socket(); }
  void clear() override;
  // Another may be opened.
  void close();

 private:
  bool own_open();

  DataSocket& beside_;
  OwnFd fd_;
  FanoutWakeup shared_;
  bool tried_ = false;
};

}  // namespace omx::link
