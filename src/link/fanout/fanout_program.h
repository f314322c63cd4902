// SPDX-License-Identifier: BSD-3-Clause
// The classic BPF program by which the kernel chooses the member of a packet fanout group that a frame goes
// to. It is one binary search for the endpoint, however many there are.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "link/packet/packet_filter.h"

namespace omx::link {

struct FanoutTable {
  std::uint32_t ifindex = 0;  // frames of other interfaces are dropped; 0: any
  struct Leaf {
    std::uint8_t endpoint = 0;
    std::uint16_t index = 0;  // of the member
  };
  std::vector<Leaf> leaves;              // in any order, each endpoint once
  std::array<std::uint16_t, 2> board{};  // members that get the board's frames at random; 0: none
};

// Builds the program. Frames for endpoints that are not in the table go to member 0. Connect requests to
// such endpoints are the board's, as names and discovery are.
FilterProgram fanout_program_build(FanoutTable table);
// Loads the program; `fd` is any member's socket. Returns 0 or errno.
int fanout_program_load(int fd, const FilterProgram& program);

}  // namespace omx::link
