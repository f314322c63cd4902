// SPDX-License-Identifier: BSD-3-Clause
// Communication of the NAS Parallel Benchmarks as programs of steps. These kernels are our own. They have the
// benchmarks' messages (sizes, counts, peers and order, from the public definition, NPB 2 and 3 with MPI).
// Computing is only time. There are sixteen processes, numbered as MPI does by default: the first eight are
// on the first host.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace omx::simulation::nic {

struct Transfer {
  std::uint32_t rank;
  std::uint32_t bytes;
};
struct Step {
  std::vector<Transfer> receives, sends;
  double share = 0;        // of the iteration's computing time
  bool pipelined = false;  // receive, compute, send; otherwise: send and receive, compute
};
using Program = std::vector<Step>;  // of one process, one iteration

inline constexpr std::uint32_t kKernelRanks = 16;
inline constexpr std::string_view kKernelNames[] = {"bt.C", "cg.B", "cg.C", "ep.C", "ft.B",
                                                    "is.C", "lu.C", "mg.B", "mg.C", "sp.C"};

// Returns an empty program if no kernel has that name.
Program kernel_program(std::string_view name, std::uint32_t rank);

}  // namespace omx::simulation::nic
