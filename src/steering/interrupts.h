// SPDX-License-Identifier: BSD-3-Clause
// The interrupts that an interface raises when frames arrive. `root` stands in front of /sys and /proc: it is
// empty except in tests.
#pragma once

#include <string>
#include <vector>

#include "netdev/interfaces.h"

namespace omx::steering {

struct Interrupt {
  std::string number;
  std::string name;  // "eth0-TxRx-3"
  int queue = 0;
  std::string allowed;    // the processors it may go to, as in smp_affinity_list; empty when unreadable
  std::string effective;  // where it goes; empty when unknown
};

// Of the interface's receive queues, by queue.
std::vector<Interrupt> interrupts_read(const std::string& root, const link::Interface& interface);

// Whether /sys/class/net/NAME is this interface. Without the remount of `ip netns exec`, /sys shows the
// namespace in which it was mounted, where another interface may have the name.
bool sysfs_shows(const std::string& root, const link::Interface& interface);

}  // namespace omx::steering
