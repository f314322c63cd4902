// SPDX-License-Identifier: BSD-3-Clause
// The number of regions: the memory that large sends offer until it is received (regions.h).
#pragma once

#include <cstdint>

namespace omx::protocol {

inline constexpr std::uint32_t kRegionNumbers = 256;
inline constexpr std::uint32_t kRegionDepth = 64;  // generations that one number can have in use
inline constexpr std::uint32_t kRegionsMost = kRegionNumbers * kRegionDepth;

}  // namespace omx::protocol
