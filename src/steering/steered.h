// SPDX-License-Identifier: BSD-3-Clause
// What `omx steer` has put on an interface, asked of the kernel without libbpf, which only the omx command
// has.
#pragma once

#include <string>
#include <vector>

#include "netdev/interfaces.h"

namespace omx::steering {

struct Steered {
  std::vector<int> processors;  // by endpoint; -1: one that is switched off; empty: there is no table
  std::string interface;        // that has the program
  std::string unreadable;       // why it is not known whether there is a table, and what helps; empty: it is
};

// Of the interface, or of the one below it (a VLAN's NIC, say), which may be the same.
Steered steered_read(const link::Interface& interface, const std::string& below);

}  // namespace omx::steering
