// SPDX-License-Identifier: BSD-3-Clause
// In place of the rest in builds that cannot compile the XDP program.
#include <cerrno>

#include "link/xdp/xdp_attach.h"
#include "link/xdp/xdp_link.h"
#include "netdev/open_failure.h"

namespace omx::link {

namespace {

tl::unexpected<Failure> absent() {
  return fail(
      kFailure,
      "this build has no AF_XDP: install the packages clang, bpftool, libbpf-dev and libxdp-dev and build "
      "Open-MX anew, beginning with cmake, or set OMX_LINK=ethernet");
}

}  // namespace

bool xdp_built() {
  return false;
}

Result<std::unique_ptr<Link>> xdp_link_open(const XdpLinkOptions&) {
  return absent();
}

Result<XdpFacts> xdp_trial(const XdpLinkOptions&) {
  return absent();
}

// The tests of AF_XDP name these, and skip before they call them.
Result<XdpAttachment> XdpAttachment::take(const std::string&, std::uint32_t, XdpMode) {
  return absent();
}

int XdpAttachment::endpoint_set(std::uint32_t, std::uint8_t, int, const omx_xdp_rule&) const {
  return ENOSYS;
}

int XdpAttachment::rule_set(std::uint8_t, const omx_xdp_rule&) const {
  return ENOSYS;
}

void XdpAttachment::endpoint_clear(std::uint32_t, std::uint8_t) const {}

}  // namespace omx::link
