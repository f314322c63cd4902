// SPDX-License-Identifier: BSD-3-Clause
// The machine as `omx check` and `omx tune` see it: its /sys and /proc, and its network drivers.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/expected.h"
#include "link/interfaces.h"
#include "tuning/ethtool.h"

namespace omx::tuning {

struct Machine {
  Ethtool& ethtool;
  std::string root;  // in front of /sys and /proc: empty except in tests

  std::vector<link::Interface> interfaces() const { return link::interfaces_list(root + "/sys"); }
};

// The first line of a file below the root, without its newline. Errors are errno values.
Expected<std::string, int> line_read(const Machine& machine, const std::string& path);
// The same where it does not matter why there is none.
std::optional<std::string> line_if_any(const Machine& machine, const std::string& path);
// In one write, as sysfs wants it. Returns 0 or errno; never creates a file.
int line_write(const Machine& machine, const std::string& path, const std::string& line);

// The whole of a file; empty when it cannot be read.
std::string text_read(const Machine& machine, const std::string& path);
// Names in a folder, sorted ("2" before "10"); none when there is no such folder.
std::vector<std::string> folder_list(const Machine& machine, const std::string& path);

// Whether /sys/class/net/NAME is this interface. Without the remount of `ip netns exec`, /sys shows the
// namespace in which it was mounted, where another interface may have the name.
bool sysfs_shows(const Machine& machine, const link::Interface& interface);

}  // namespace omx::tuning
