// SPDX-License-Identifier: BSD-3-Clause
// The XDP program in the kernel: loaded with a table, recognised, and read. Attaching it to an interface is
// in steer_attach.h. All of it needs root; errors are sentences for people.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/expected.h"
#include "base/own_fd.h"
#include "steering/xdp/steer_table.h"

namespace omx::steering {

// False when this build lacks the program, because clang, bpftool or libbpf was missing; all that can fail
// then does so with a sentence that says it.
bool steer_built();

// Loads the program and fills its maps. Nothing is attached: when the descriptor is closed, by whatever end
// of the process too, the kernel frees all of it, unless an interface holds the program by then.
Result<OwnFd> steer_load(const SteerTable& table);

// Frames of one endpoint by processor of their arrival.
struct EndpointCounts {
  std::vector<std::uint64_t> stayed;  // index: processor
  std::vector<std::uint64_t> moved;
};

struct SteerState {
  SteerTable table{};
  std::vector<EndpointCounts> endpoints;  // kSteerEndpoints
};

// Whether a program is ours: it has our name, and our maps. Of whichever version.
bool steer_is_ours(int program);
std::string program_name(int program);
// The program of an id that an interface names, or why it cannot be had.
Result<OwnFd> program_open(std::uint32_t id);

// The maps of a program that is ours, as they are now. Fails for one whose maps another version laid out.
Result<SteerState> steer_read(int program);

// The sentence for a refusal by the kernel: what was tried, the error, and what it takes.
Failure kernel_refused(std::string_view attempt, int error);

}  // namespace omx::steering
