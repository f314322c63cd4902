// SPDX-License-Identifier: BSD-3-Clause
// Our XDP program on an interface. A link of the kernel holds it there: the program is detached when the
// last process that holds the link is gone, however it ends. Later processes hold the same link. Needs root:
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
  // Attaches the program, or joins a process that has attached it. Fails where the interface has another
  // program.
  static Result<XdpAttachment> take(const std::string& interface, std::uint32_t index, XdpMode mode);

  // Returns whether the kernel runs the program on packets that it made already. The driver has no XDP, or
  // was not to use it.
  bool generic() const { return generic_; }
  // Returns whether another process had attached the program.
  bool joined() const { return joined_; }
  // Returns why the program does not run natively. Empty when native mode was not tried, or when we joined.
  const std::string& why_generic() const { return why_generic_; }

  // Directs these frames to that socket from now on. Both functions return 0 or errno.
  int endpoint_set(std::uint32_t queue, std::uint8_t endpoint, int socket, const omx_xdp_rule& rule) const;
  int rule_set(std::uint8_t endpoint, const omx_xdp_rule& rule) const;
  void endpoint_clear(std::uint32_t queue, std::uint8_t endpoint) const;

 private:
  OwnFd link_, sockets_, rules_;
  bool generic_ = false, joined_ = false;
  std::string why_generic_;
};

}  // namespace omx::link
