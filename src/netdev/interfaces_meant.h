// SPDX-License-Identifier: BSD-3-Clause
// The words by which a user names interfaces.
#pragma once

#include <cstdint>
#include <string_view>

#include "netdev/interface.h"

namespace omx::link {

// The kinds of words that mean interfaces.
enum class Term : std::uint8_t { name, mac, network, pci, speed, malformed };
Term term_of(std::string_view text);
// Returns whether a word means this interface. The word may be a name, "02:4f:4d:58:00:01", "10.77.0.0/24"
// or "fd4f::1" (it has such an address). It may also be "0000:3b:00.0", "speed=25g" or "speed>=10g" (without
// a unit: Mb/s).
bool interface_meant(const Interface& i, std::string_view text);

}  // namespace omx::link
