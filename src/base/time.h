// SPDX-License-Identifier: BSD-3-Clause
// Times are nanoseconds of a monotonic clock: the system's (base/clock.h), or a virtual one in simulation.
#pragma once

#include <cstdint>

namespace omx {

using TimeNs = std::uint64_t;
inline constexpr TimeNs kNever = ~TimeNs{0};

}  // namespace omx
