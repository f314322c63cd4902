// SPDX-License-Identifier: BSD-3-Clause
// Replaces xdp_attach.cc in builds that cannot compile the XDP program. The tests of AF_XDP name these
// functions, and skip before they call them.
#include <cerrno>

#include "link/xdp/xdp_attach.h"
#include "netdev/open_failure.h"

namespace omx::link {

Result<XdpAttachment> XdpAttachment::take(const std::string&, std::uint32_t, XdpMode) {
  return fail(kFailure, "this build has no AF_XDP");
}

int XdpAttachment::endpoint_set(std::uint32_t, std::uint8_t, int, const omx_xdp_rule&) const {
  return ENOSYS;
}

int XdpAttachment::rule_set(std::uint8_t, const omx_xdp_rule&) const {
  return ENOSYS;
}

void XdpAttachment::endpoint_clear(std::uint32_t, std::uint8_t) const {}

}  // namespace omx::link
