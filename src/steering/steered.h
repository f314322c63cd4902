// SPDX-License-Identifier: BSD-3-Clause
// Reads the table that `omx steer` has put on an interface. The kernel is asked without libbpf, which only
// the omx command links.
#pragma once

#include <string>
#include <vector>

#include "netdev/interfaces.h"

namespace omx::steering {

struct Steered {
  std::vector<int> processors;  // by endpoint; -1: a processor that is switched off; empty: no table
  std::string interface;        // the interface with the program
  std::string unreadable;       // why the table cannot be read, and what helps; empty: it can
};

// Reads the steering of the interface, or of the interface `below` it (such as the NIC of a VLAN). Both may
// be the same.
Steered steered_read(const link::Interface& interface, const std::string& below);

}  // namespace omx::steering
