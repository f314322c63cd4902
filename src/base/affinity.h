// SPDX-License-Identifier: BSD-3-Clause
// The processors on which threads may run. Lists are sorted. An empty list stands for "unknown".
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace omx {

// Returns the affinity of a thread or, given a process, of its first thread. 0 names the calling thread.
std::vector<int> affinity_read(pid_t thread = 0);
// Sets the affinity of the calling thread, which threads that it starts inherit. The kernel leaves out
// processors that the control group forbids or that are switched off. Returns 0 or errno: EINVAL if no
// processor is left.
int affinity_set(const std::vector<int>& cpus);
// Returns the processors that this process could be given: those that are on and that its control group
// (cpuset) allows. A thread of its own asks the kernel, so the caller's affinity stays as it is.
std::vector<int> affinity_possible();
// Returns the processors of this host that are switched on. `root` is the folder that holds /sys. It is empty
// except in tests.
std::vector<int> processors_online(const std::string& root = "");
// Returns a number above those of all processors, including those that are switched off. It may exceed their
// count, because numbers may have gaps. At least 1.
int processor_numbers(const std::string& root = "");

}  // namespace omx
