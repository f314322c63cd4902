// SPDX-License-Identifier: BSD-3-Clause
// On which processors threads may run. Lists are sorted; an empty one stands for "unknown".
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace omx {

// Of a thread or, given a process, of its first thread; 0: of the calling one.
std::vector<int> affinity_read(pid_t thread = 0);
// Of the calling thread; threads that it starts inherit it. The kernel leaves out processors that the control
// group forbids or that are switched off. 0, or errno: none is left (EINVAL), or not permitted.
int affinity_set(const std::vector<int>& cpus);
// The processors that this process could be given: those that are on and that its control group (cpuset)
// allows. The kernel is asked in a thread of its own, so the caller's affinity is not touched.
std::vector<int> affinity_possible();
// The processors of this host that are switched on. `root`: of /sys; empty but in tests.
std::vector<int> processors_online(const std::string& root = "");
// Processors have numbers below this one, those that are switched off included; their count may be less, as
// there may be gaps. At least 1.
int processor_numbers(const std::string& root = "");

}  // namespace omx
