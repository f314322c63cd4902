// SPDX-License-Identifier: BSD-3-Clause
// Replaces xdp_link.cc in builds that cannot compile the XDP program.
#include "link/ethernet/xdp_link.h"
#include "netdev/open_failure.h"

namespace omx::link {

namespace {

tl::unexpected<Failure> absent() {
  return fail(
      kFailure,
      "this build has no AF_XDP: install the packages clang, bpftool, libbpf-dev and libxdp-dev and build "
      "Open-MX again, beginning with cmake, or set OMX_LINK=ethernet");
}

}  // namespace

bool xdp_built() {
  return false;
}

Result<std::unique_ptr<Transport>> xdp_link_open(const XdpLinkOptions&) {
  return absent();
}

Result<XdpFacts> xdp_trial(const XdpLinkOptions&) {
  return absent();
}

}  // namespace omx::link
