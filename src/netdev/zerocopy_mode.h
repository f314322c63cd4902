// SPDX-License-Identifier: BSD-3-Clause
// Whether large messages leave by UDP without a copy.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace omx::link {

// automatic: where it was measured to be cheaper. always: wherever the kernel lets it.
enum class ZerocopyMode : std::uint8_t { automatic, never, always };
const char* zerocopy_mode_name(ZerocopyMode mode);
std::optional<ZerocopyMode> zerocopy_mode_parse(std::string_view text);

}  // namespace omx::link
