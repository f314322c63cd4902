// SPDX-License-Identifier: BSD-3-Clause
// A packet socket to sleep on while a stream passes. It takes the frames with the solicited flag, and the
// kinds that come alone, such as connects. It drops the rest of a stream's frames. The frames themselves are
// read from the data sockets.
#pragma once

#include "base/own_fd.h"
#include "base/time.h"
#include "link/ethernet/data_socket.h"
#include "link/fanout/fanout_wakeup.h"
#include "link/wakeup.h"

namespace omx::link {

class WakeupSocket final : public Wakeup {
 public:
  // `beside` must outlive the object. If its socket is a member of a group, this one joins the group, too.
  explicit WakeupSocket(DataSocket& beside) : beside_(beside) {}

  // Opens the socket. Returns false when it cannot be had: finally if the data socket is our own, only for
  // now in a group, or while the broker has none for us.
  bool open() override;
  int descriptor() const override { return fd_.open() ? fd_.get() : shared_.socket(); }
  void clear() override;
  // Closes the socket; open() may open another.
  void close();

 private:
  // Between two questions to the broker, which take it some time.
  static constexpr TimeNs kAskPause = 1'000'000'000;

  bool own_open();
  bool granted_open(GrantedSockets& granted);

  DataSocket& beside_;
  OwnFd fd_;
  FanoutWakeup shared_;
  bool tried_ = false;
  TimeNs ask_at_ = 0;  // not before this time
};

}  // namespace omx::link
