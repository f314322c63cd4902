// SPDX-License-Identifier: BSD-3-Clause
// By what a user names interfaces.
#pragma once

#include <cstdint>
#include <string_view>

#include "netdev/interface.h"

namespace omx::link {

// What a word of a user's is that means interfaces.
enum class Term : std::uint8_t { name, mac, network, pci, speed, malformed };
Term term_of(std::string_view text);
// Whether it means this one: by its name, "02:4f:4d:58:00:01", "10.77.0.0/24" or "fd4f::1" (it has such an
// address), "0000:3b:00.0", "speed=25g", "speed>=10g" (without a unit: Mb/s).
bool interface_meant(const Interface& i, std::string_view text);

}  // namespace omx::link
