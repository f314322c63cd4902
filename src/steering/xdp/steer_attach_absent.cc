// SPDX-License-Identifier: BSD-3-Clause
// Replaces steer_attach.cc in builds that cannot compile the XDP program.
#include "steering/xdp/steer_attach.h"

namespace omx::steering {

namespace {

tl::unexpected<Failure> absent() {
  return tl::unexpected(steer_load({}).error());
}

}  // namespace

const char* xdp_mode_name(XdpMode) {
  return "none";
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
