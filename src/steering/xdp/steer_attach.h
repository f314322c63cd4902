// SPDX-License-Identifier: BSD-3-Clause
// Reads which XDP programs interfaces have, and attaches and detaches ours.
//
// Attaching is one request to the kernel and the last step. It gives the interface a loaded, complete
// program, or changes nothing. From then on only the interface holds the program. So there is no intermediate
// state, and no process or file belongs to the program.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "steering/xdp/steer_program.h"

namespace omx::steering {

// native: the driver runs the program before it makes a packet of the frame. generic: the kernel runs it
// later. offloaded: the NIC runs it, which ours never is.
enum class XdpMode : std::uint8_t { native, generic, offloaded };
const char* xdp_mode_name(XdpMode mode);

struct Attachment {
  std::string interface;
  unsigned index = 0;  // of the interface
  XdpMode mode = XdpMode::native;
  std::uint32_t id = 0;  // of the program
  std::string name;
  bool ours = false;
  OwnFd program;
};

// Returns the XDP program of one interface, or nothing when it has none.
Result<std::optional<Attachment>> xdp_attached(const std::string& interface);
// Returns the XDP programs of all interfaces of this network namespace.
Result<std::vector<Attachment>> xdp_attached_all();

// Attaches the program to the interface, in place of an earlier one of ours without a gap. Refuses if another
// owner's program is there or appears meanwhile. Without `wanted`, uses the mode of our earlier program, else
// native, or generic if the driver has no native mode. Returns the mode.
Result<XdpMode> steer_attach(const std::string& interface, int program, std::optional<XdpMode> wanted);

// Detaches exactly this program, which must be ours, from its interface. Fails if the interface has another
// program by now. A missing interface is no failure.
Result<void> steer_detach(const Attachment& attachment);

}  // namespace omx::steering
