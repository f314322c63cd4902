// SPDX-License-Identifier: BSD-3-Clause
// Settings that are one of a few words.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace omx::runtime {

// What looks after an endpoint while the application does not call: nothing; a thread that notices; a thread
// that every frame wakes.
enum class ProgressMode : std::uint8_t { off, automatic, always };

// What carries our frames: raw Ethernet where this process may, else UDP; or always one of them. xdp is raw
// Ethernet by other sockets.
enum class LinkKind : std::uint8_t { automatic, ethernet, xdp, udp, udp4, udp6 };

// Who puts the data of large messages into their place: the kernel, when it hands them over; or we, or a copy
// engine, from the receive ring; or whatever is cheaper.
enum class Placement : std::uint8_t { automatic, kernel, ring };

const char* progress_name(ProgressMode mode);
const char* link_name(LinkKind kind);
const char* placement_name(Placement placement);
std::optional<LinkKind> link_parse(std::string_view text);

}  // namespace omx::runtime
