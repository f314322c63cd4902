// SPDX-License-Identifier: BSD-3-Clause
// The ways in which AF_XDP sockets get their frames from an interface.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace omx::link {

// automatic: the best of the following modes, in this order. zerocopy: the driver uses our memory. copy: the
// driver runs the program, and the kernel copies. generic: the driver gives no support.
enum class XdpMode : std::uint8_t { automatic, zerocopy, copy, generic };
const char* xdp_mode_name(XdpMode mode);
std::optional<XdpMode> xdp_mode_parse(std::string_view text);

inline constexpr int kAnyQueue = -1;  // of an interface: the first that no other process has

}  // namespace omx::link
