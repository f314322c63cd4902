// SPDX-License-Identifier: BSD-3-Clause
// Boards: the Ethernet interfaces that this process uses, numbered from 0 in the order of interfaces_choose()
// (papers O2: any Ethernet hardware).
#pragma once

#include <string>
#include <vector>

#include "link/interfaces.h"
#include "runtime/settings.h"

namespace omx::runtime {

struct Board {
  std::uint32_t number = 0;
  link::Interface interface;
  std::string hostname;  // "host:number", as peers know it (mx-clients.md 7)
};

Result<std::vector<Board>> boards_find(const Settings& settings);

}  // namespace omx::runtime
