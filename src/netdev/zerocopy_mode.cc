// SPDX-License-Identifier: BSD-3-Clause
#include "netdev/zerocopy_mode.h"

namespace omx::link {

const char* zerocopy_mode_name(ZerocopyMode mode) {
  switch (mode) {
    case ZerocopyMode::never:
      return "0";
    case ZerocopyMode::always:
      return "1";
    case ZerocopyMode::automatic:
      break;
  }
  return "auto";
}

std::optional<ZerocopyMode> zerocopy_mode_parse(std::string_view text) {
  for (const ZerocopyMode mode : {ZerocopyMode::automatic, ZerocopyMode::never, ZerocopyMode::always})
    if (text == zerocopy_mode_name(mode)) return mode;
  return std::nullopt;
}

}  // namespace omx::link
