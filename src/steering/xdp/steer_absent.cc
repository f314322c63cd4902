// SPDX-License-Identifier: BSD-3-Clause
// In place of the rest in builds that cannot compile the XDP program.
#include "steering/xdp/steer_attach.h"

namespace omx::steering {

namespace {

tl::unexpected<Failure> absent() {
  return fail(2,
              "this build has no XDP program: install the packages clang, bpftool and libbpf-dev, and build "
              "Open-MX anew, beginning with cmake");
}

}  // namespace

bool steer_built() {
  return false;
}

Result<OwnFd> steer_load(const SteerTable&) {
  return absent();
}

const char* xdp_mode_name(XdpMode) {
  return "none";
}

Result<SteerState> steer_read(int) {
  return absent();
}

Result<std::optional<Attachment>> xdp_attached(const std::string&) {
  return absent();
}

Result<std::vector<Attachment>> xdp_attached_all() {
  return absent();
}

Result<XdpMode> steer_attach(const std::string&, int, std::optional<XdpMode>) {
  return absent();
}

Result<void> steer_detach(const Attachment&) {
  return absent();
}

}  // namespace omx::steering
