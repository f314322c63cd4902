// SPDX-License-Identifier: BSD-3-Clause
#include "netdev/xdp_mode.h"

namespace omx::link {

const char* xdp_mode_name(XdpMode mode) {
  switch (mode) {
    case XdpMode::zerocopy:
      return "zerocopy";
    case XdpMode::copy:
      return "copy";
    case XdpMode::generic:
      return "generic";
    case XdpMode::automatic:
      break;
  }
  return "auto";
}

std::optional<XdpMode> xdp_mode_parse(std::string_view text) {
  for (const XdpMode mode : {XdpMode::automatic, XdpMode::zerocopy, XdpMode::copy, XdpMode::generic})
    if (text == xdp_mode_name(mode)) return mode;
  return std::nullopt;
}

}  // namespace omx::link
