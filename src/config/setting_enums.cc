// SPDX-License-Identifier: BSD-3-Clause
#include "config/setting_enums.h"

namespace omx::runtime {

const char* progress_name(ProgressMode mode) {
  return mode == ProgressMode::off ? "off" : mode == ProgressMode::always ? "always" : "auto";
}

const char* link_name(LinkKind kind) {
  switch (kind) {
    case LinkKind::ethernet:
      return "ethernet";
    case LinkKind::xdp:
      return "xdp";
    case LinkKind::udp:
      return "udp";
    case LinkKind::udp4:
      return "udp4";
    case LinkKind::udp6:
      return "udp6";
    case LinkKind::automatic:
      break;
  }
  return "auto";
}

const char* placement_name(Placement placement) {
  return placement == Placement::kernel ? "kernel" : placement == Placement::ring ? "ring" : "auto";
}

std::optional<LinkKind> link_parse(std::string_view text) {
  for (const LinkKind kind : {LinkKind::automatic, LinkKind::ethernet, LinkKind::xdp, LinkKind::udp,
                              LinkKind::udp4, LinkKind::udp6})
    if (text == link_name(kind)) return kind;
  return std::nullopt;
}

}  // namespace omx::runtime
