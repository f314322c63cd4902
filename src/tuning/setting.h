// SPDX-License-Identifier: BSD-3-Clause
// One value of the machine that can be read and changed, as text.
#pragma once

#include <string>
#include <string_view>

#include "base/expected.h"
#include "tuning/machine.h"

namespace omx::tuning {

enum class SettingKind {
  device_file,  // `name` below /sys/class/net/INTERFACE: "gro_flush_timeout"
  coalescing,   // `name` as `ethtool -C` has it: "rx-usecs"
  ring,         // `name` as `ethtool -G` has it: "rx"
  feature,      // `name` as the kernel has it: "rx-gro"
  irq,          // `name` is the number of an interrupt of the interface; the value is its list of processors
  flow,         // `name` as in flow_rule.h; the value is "there" or "none"
  napi,         // `name` as in napi.h: "8193/gro-flush-timeout"
  host_file,    // `name` is a path of /proc/sys/net/core or /sys/devices/system/cpu; no interface
};

struct Setting {
  SettingKind kind = SettingKind::host_file;
  std::string interface;
  std::string name;

  bool operator==(const Setting&) const = default;
};

// Errors are errno values.
Expected<std::string, int> setting_read(const Machine& machine, const Setting& setting);
int setting_write(const Machine& machine, const Setting& setting, const std::string& value);

// Returns a name for people: "eth0 rx-usecs", "eth0 interrupt 41", "/proc/sys/net/core/rmem_max".
std::string setting_text(const Setting& setting);
// Returns the command that does the same as setting_write.
std::string setting_command(const Setting& setting, const std::string& value);

// Returns the name of a kind in the file of former values.
std::string_view kind_name(SettingKind kind);
// Returns whether this program changes such a setting. A setting that is read from a file is not trusted to
// be one.
bool setting_valid(const Setting& setting);
bool kind_parse(std::string_view name, SettingKind& kind);

}  // namespace omx::tuning
