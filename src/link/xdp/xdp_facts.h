// SPDX-License-Identifier: BSD-3-Clause
// Facts of an AF_XDP link: how it uses the interface.
#pragma once

#include <cstdint>
#include <string>

namespace omx::link {

// The mode, queue and sizes that are in use, or would be.
struct XdpFacts {
  bool generic = false, zero_copy = false, multi_buffer = false;
  std::uint32_t queue = 0;
  std::uint32_t largest_frame = 0;
  std::string why_generic = {};  // the driver's answer, if it refused
};
// Returns e.g. "native mode, copying, queue 0, ...".
std::string xdp_facts_text(const XdpFacts& facts);

}  // namespace omx::link
