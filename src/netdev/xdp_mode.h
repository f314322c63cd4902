// SPDX-License-Identifier: BSD-3-Clause
// How AF_XDP sockets get their frames from an interface.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace omx::link {

// automatic: the best of those that follow, in this order. zerocopy: the driver uses our memory. copy: the
// driver runs the program, the kernel copies. generic: no support by the driver.
enum class XdpMode : std::uint8_t { automatic, zerocopy, copy, generic };
const char* xdp_mode_name(XdpMode mode);
std::optional<XdpMode> xdp_mode_parse(std::string_view text);

inline constexpr int kAnyQueue = -1;  // of an interface: the first that no other process has

}  // namespace omx::link
