// SPDX-License-Identifier: BSD-3-Clause
// The interrupts that an interface raises when frames arrive. `root` is a prefix of /sys and /proc, empty
// except in tests.
#pragma once

#include <string>
#include <vector>

#include "netdev/interfaces.h"

namespace omx::steering {

struct Interrupt {
  std::string number;
  std::string name;  // "eth0-TxRx-3"
  int queue = 0;
  std::string allowed;    // the processors that it may go to, as in smp_affinity_list; empty when unreadable
  std::string effective;  // the processor that it goes to; empty when unknown
};

// Returns the interrupts of the interface's receive queues, by queue.
std::vector<Interrupt> interrupts_read(const std::string& root, const link::Interface& interface);

// Returns whether /sys/class/net/NAME is this interface. Without the remount of `ip netns exec`, /sys shows
// the namespace in which it was mounted. Another interface may have the name there.
bool sysfs_shows(const std::string& root, const link::Interface& interface);

}  // namespace omx::steering
