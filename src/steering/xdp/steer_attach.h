// SPDX-License-Identifier: BSD-3-Clause
// Which XDP programs interfaces have, and ours put on them and taken off.
//
// Attaching is one request to the kernel, the last step of all, which gives the interface a program that is
// loaded and complete, or changes nothing. From then on the interface alone holds it. So there is no state in
// between, and no process or file that belongs to it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "steering/xdp/steer_program.h"

namespace omx::steering {

// native: the driver runs the program, before it makes a packet of the frame. generic: the kernel does,
// later. offloaded: the NIC does, which never is ours.
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

// Of one interface; none when it has no XDP program.
Result<std::optional<Attachment>> xdp_attached(const std::string& interface);
// Of all interfaces of this network namespace.
Result<std::vector<Attachment>> xdp_attached_all();

// Gives the interface the program, in place of an earlier one of ours without a gap. Refuses when another's
// program is there, or appears meanwhile. Without a mode: the one of ours that is there, else native, or
// generic where the driver cannot. Returns the mode.
Result<XdpMode> steer_attach(const std::string& interface, int program, std::optional<XdpMode> wanted);

// Takes exactly this program, which must be ours, off its interface; fails when the interface has another by
// now. An interface that is gone is no failure.
Result<void> steer_detach(const Attachment& attachment);

}  // namespace omx::steering
