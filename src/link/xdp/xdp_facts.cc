// SPDX-License-Identifier: BSD-3-Clause
#include "link/xdp/xdp_facts.h"

#include <fmt/format.h>

namespace omx::link {

std::string xdp_facts_text(const XdpFacts& facts) {
  return fmt::format(
      "{} mode{}, {}, queue {}, frames of up to {} bytes{}", facts.generic ? "generic" : "native",
      facts.why_generic.empty() ? "" : fmt::format(" (its driver says: {})", facts.why_generic),
      facts.zero_copy ? "zero-copy" : "copying", facts.queue, facts.largest_frame,
      facts.multi_buffer ? " in several pieces" : "");
}

}  // namespace omx::link
