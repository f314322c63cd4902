// SPDX-License-Identifier: BSD-3-Clause
// Settings whose value is one of a few words.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace omx::runtime {

// The mover of an endpoint's messages while the application does not call. `off`: nothing does. `automatic`:
// a thread that notices. `always`: a thread that every frame wakes.
enum class ProgressMode : std::uint8_t { off, automatic, always };

// The carrier of our frames. `automatic`: raw Ethernet if this process may use it, otherwise UDP. The others
// are always used. `xdp` is raw Ethernet by other sockets.
enum class LinkKind : std::uint8_t { automatic, ethernet, xdp, udp, udp4, udp6 };

// The writer of large messages' data. `kernel`: the kernel, when it hands them over.
// `ring`: this library or a copy engine, from the receive ring. `automatic`: whichever is cheaper.
enum class Placement : std::uint8_t { automatic, kernel, ring };

// The report at the end of a job. `line`: for people. `json`: for programs.
enum class ReportKind : std::uint8_t { off, line, json };

const char* progress_name(ProgressMode mode);
const char* link_name(LinkKind kind);
const char* placement_name(Placement placement);
std::optional<LinkKind> link_parse(std::string_view text);

}  // namespace omx::runtime
