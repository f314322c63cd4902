// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include "link/xdp_link.h"

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

std::string xdp_facts_text(const XdpFacts& facts) {
  return fmt::format(
      "{} mode{}, {}, queue {}, frames of up to {} bytes{}", facts.generic ? "generic" : "native",
      facts.why_generic.empty() ? "" : fmt::format(" (its driver says: {})", facts.why_generic),
      facts.zero_copy ? "zero-copy" : "copying", facts.queue, facts.largest_frame,
      facts.multi_buffer ? " in several pieces" : "");
}

}  // namespace omx::link
