// SPDX-License-Identifier: BSD-3-Clause
// How many regions there are: what large sends offer until they are received (regions.h).
#pragma once

#include <cstdint>

namespace omx::protocol {

inline constexpr std::uint32_t kRegionNumbers = 256;
inline constexpr std::uint32_t kRegionDepth = 64;  // of one number; the rest of the generations is a distance
inline constexpr std::uint32_t kRegionsMost = kRegionNumbers * kRegionDepth;

}  // namespace omx::protocol
