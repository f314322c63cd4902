// SPDX-License-Identifier: BSD-3-Clause
// Where the cgroup (version 2) of this process lies in the file system.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace omx::broker {

// Returns the folder of the cgroup, from the texts of /proc/self/mountinfo and /proc/self/cgroup. Returns
// nullopt if no mounted cgroup2 file system shows it.
std::optional<std::string> cgroup_folder(std::string_view mountinfo, std::string_view own_cgroup);

}  // namespace omx::broker
