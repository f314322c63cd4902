// SPDX-License-Identifier: BSD-3-Clause
// Our XDP program on an interface, held there by a link of the kernel: it is taken off when the last process
// that holds the link is gone, however it ends. Processes that come later hold the same link. Needs root:
// CAP_BPF, CAP_NET_ADMIN and CAP_PERFMON to attach, CAP_SYS_ADMIN to join.
#pragma once

#include <cstdint>
#include <string>

#include "base/expected.h"
#include "base/own_fd.h"
#include "link/xdp/xdp_shared.h"
#include "netdev/xdp_mode.h"

namespace omx::link {

class XdpAttachment {
 public:
  // Attaches, or joins who has. Refuses where another's program is.
  static Result<XdpAttachment> take(const std::string& interface, std::uint32_t index, XdpMode mode);

  // The driver has no XDP, or was not to use it: the kernel runs the program on packets that are made
  // already.
  bool generic() const { return generic_; }
  // Another process had attached it.
  bool joined() const { return joined_; }
  // Why not natively; empty: it was not tried, or joined.
  const std::string& why_generic() const { return why_generic_; }

  // From now on these frames go to that socket. Return 0 or errno.
  int endpoint_set(std::uint32_t queue, std::uint8_t endpoint, int socket, const omx_xdp_rule& rule) const;
  int rule_set(std::uint8_t endpoint, const omx_xdp_rule& rule) const;
  void endpoint_clear(std::uint32_t queue, std::uint8_t endpoint) const;

 private:
  OwnFd link_, sockets_, rules_;
  bool generic_ = false, joined_ = false;
  std::string why_generic_;
};

}  // namespace omx::link
