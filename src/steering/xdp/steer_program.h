// SPDX-License-Identifier: BSD-3-Clause
// Loads, recognises and reads the XDP program in the kernel. steer_attach.h attaches it to an interface. All
// of it needs root; errors are sentences for people.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/expected.h"
#include "base/own_fd.h"
#include "steering/xdp/steer_table.h"

namespace omx::steering {

// Returns false if this build lacks the program, because clang, bpftool or libbpf was missing. All functions
// that can fail then fail with a sentence that says so.
bool steer_built();

// Loads the program and fills its maps, but attaches nothing. When the descriptor is closed, the kernel frees
// all of it, unless an interface holds the program by then. The end of the process closes it, too.
Result<OwnFd> steer_load(const SteerTable& table);

// Frames of one endpoint by the processor that they arrived on.
struct EndpointCounts {
  std::vector<std::uint64_t> stayed;  // index: processor
  std::vector<std::uint64_t> moved;
};

struct SteerState {
  SteerTable table{};
  std::vector<EndpointCounts> endpoints;  // kSteerEndpoints
};

// Returns whether a program is ours: it has our name and our maps. Any version counts.
bool steer_is_ours(int program);
std::string program_name(int program);
// Opens the program with this id, which an interface has. Fails with the reason.
Result<OwnFd> program_open(std::uint32_t id);

// Reads the maps of a program of ours. Fails if another version laid out its maps.
Result<SteerState> steer_read(int program);

// Returns the message for a refusal by the kernel: what was tried, the error, and what is needed.
Failure kernel_refused(std::string_view attempt, int error);

}  // namespace omx::steering
