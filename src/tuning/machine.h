// SPDX-License-Identifier: BSD-3-Clause
// The machine as `omx check` and `omx tune` see it: its /sys and /proc, and its network drivers.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/expected.h"
#include "base/text_file.h"
#include "netdev/interfaces.h"
#include "tuning/ethtool.h"

namespace omx::tuning {

struct Machine {
  Ethtool& ethtool;
  std::string root;  // prefix of /sys and /proc: empty except in tests

  std::vector<link::Interface> interfaces() const { return link::interfaces_list(root + "/sys"); }
};

// Returns the first line of a file below the root, without its newline. Errors as in base/text_file.h.
inline Expected<std::string, int> line_read(const Machine& machine, const std::string& path) {
  return omx::line_read(machine.root + path);
}
// Returns the first line of a file below the root, or nothing on any error.
std::optional<std::string> line_if_any(const Machine& machine, const std::string& path);
// Writes a line in one write, as sysfs requires. Returns 0 or errno. Never creates a file.
int line_write(const Machine& machine, const std::string& path, const std::string& line);

inline std::vector<std::string> folder_list(const Machine& machine, const std::string& path) {
  return omx::folder_list(machine.root + path);
}

}  // namespace omx::tuning
