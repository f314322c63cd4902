// SPDX-License-Identifier: BSD-3-Clause
// The classic BPF program by which the kernel chooses the member of a packet fanout group that a frame goes
// to: one binary search for the endpoint, whatever their number.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "link/packet/packet_filter.h"

namespace omx::link {

struct FanoutTable {
  std::uint32_t ifindex = 0;  // whose frames they are; those of other interfaces are dropped. 0: any
  struct Leaf {
    std::uint8_t endpoint = 0;
    std::uint16_t index = 0;  // of the member
  };
  std::vector<Leaf> leaves;              // in any order, each endpoint once
  std::array<std::uint16_t, 2> board{};  // members for the board's frames, by chance; 0: nobody
};

// What is for nobody in the table goes to member 0; connect requests to endpoints that are not in it are the
// board's, as names and discovery are.
FilterProgram fanout_program_build(FanoutTable table);
// 0 or errno; `fd` is any member.
int fanout_program_load(int fd, const FilterProgram& program);

}  // namespace omx::link
