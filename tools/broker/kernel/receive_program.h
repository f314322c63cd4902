// SPDX-License-Identifier: BSD-3-Clause
// The program that lets frames into a sealed socket: only those for the endpoint of its grant, and only while
// the grant lasts. The user chooses by a word of memory which class of these frames the socket takes.
//
// To load a program takes the kernel half a millisecond. So it can be loaded and attached before the socket
// has a grant, and before the endpoint is known.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/expected.h"
#include "base/own_fd.h"
#include "broker/message.h"
#include "tools/broker/kernel/ebpf_code.h"
#include "tools/broker/kernel/grant_map.h"
#include "wire/packets.h"

namespace omx::broker {

// Makes the map that holds Classes. It may be given to the user: map it with MAP_SHARED, one page.
Result<OwnFd> classes_make();

struct ReceiveRule {
  std::uint32_t slot = 0;
  std::uint64_t cookie = 0;   // of the data socket: the grant of the slot must name it
  std::uint32_t ifindex = 0;  // in the private network; 0: any
  std::size_t word = 0;       // offset in Classes
  std::uint16_t protocol = wire::kEthertype;
};

// Builds the instructions, which refer to the descriptors of the maps.
EbpfProgram receive_program_build(const GrantMaps& maps, int classes, const ReceiveRule& rule);
Result<OwnFd> receive_program_load(const GrantMaps& maps, int classes, const ReceiveRule& rule);

}  // namespace omx::broker
