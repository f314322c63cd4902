// SPDX-License-Identifier: BSD-3-Clause
#include "tuning/setting.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <limits>

#include "base/number.h"

namespace omx::tuning {

namespace {

constexpr std::array<std::string_view, 8> kKindNames = {"device", "coalescing", "ring", "feature",
                                                        "irq",    "flow",       "napi", "host"};
constexpr std::string_view kSysctls = "/proc/sys/net/core/";
constexpr std::string_view kProcessors = "/sys/devices/system/cpu/cpu";

std::string path_of(const Setting& s) {
  if (s.kind == SettingKind::device_file) return "/sys/class/net/" + s.interface + "/" + s.name;
  if (s.kind == SettingKind::irq) return "/proc/irq/" + s.name + "/smp_affinity_list";
  return s.name;
}

bool number_take(const std::string& text, std::uint32_t& value) {
  const auto number = number_parse(text);
  if (!number || *number > std::numeric_limits<std::uint32_t>::max()) return false;
  value = static_cast<std::uint32_t>(*number);
  return true;
}

std::string on_off(bool on) {
  return on ? "on" : "off";
}

// Each field of Coalescing is either a switch or a number.
bool* switch_of(Coalescing& c, std::string_view name) {
  if (name == "adaptive-rx") return &c.adaptive_rx;
  if (name == "adaptive-tx") return &c.adaptive_tx;
  return nullptr;
}

std::uint32_t* number_of(Coalescing& c, std::string_view name) {
  if (name == "rx-usecs") return &c.rx_usecs;
  if (name == "rx-frames") return &c.rx_frames;
  if (name == "tx-usecs") return &c.tx_usecs;
  if (name == "tx-frames") return &c.tx_frames;
  return nullptr;
}

std::uint32_t* number_of(Rings& r, std::string_view name) {
  if (name == "rx") return &r.rx;
  if (name == "tx") return &r.tx;
  return nullptr;
}

Expected<std::string, int> coalescing_read(const Machine& machine, const Setting& s) {
  auto c = machine.ethtool.coalescing(s.interface);
  if (!c) return tl::unexpected<int>(c.error());
  if (const bool* on = switch_of(*c, s.name)) return on_off(*on);
  if (const std::uint32_t* number = number_of(*c, s.name)) return std::to_string(*number);
  return tl::unexpected<int>(EINVAL);
}

int coalescing_write(const Machine& machine, const Setting& s, const std::string& value) {
  auto c = machine.ethtool.coalescing(s.interface);
  if (!c) return c.error();
  if (bool* on = switch_of(*c, s.name)) {
    *on = value == "on";
  } else if (std::uint32_t* number = number_of(*c, s.name); !number || !number_take(value, *number)) {
    return EINVAL;
  }
  return machine.ethtool.coalescing_set(s.interface, *c);
}

Expected<std::string, int> ring_read(const Machine& machine, const Setting& s) {
  auto r = machine.ethtool.rings(s.interface);
  if (!r) return tl::unexpected<int>(r.error());
  const std::uint32_t* number = number_of(*r, s.name);
  if (!number) return tl::unexpected<int>(EINVAL);
  return std::to_string(*number);
}

int ring_write(const Machine& machine, const Setting& s, const std::string& value) {
  auto r = machine.ethtool.rings(s.interface);
  if (!r) return r.error();
  std::uint32_t* number = number_of(*r, s.name);
  if (!number || !number_take(value, *number)) return EINVAL;
  return machine.ethtool.rings_set(s.interface, *r);
}

// Returns the requested value, not the one in force, because only the requested value can be restored.
Expected<std::string, int> feature_read(const Machine& machine, const Setting& s) {
  const auto features = machine.ethtool.features(s.interface);
  if (!features) return tl::unexpected<int>(features.error());
  for (const Feature& f : *features) {
    if (f.name == s.name) return on_off(f.requested);
  }
  return tl::unexpected<int>(EOPNOTSUPP);
}

// Returns ENOENT if the queue is gone.
Expected<std::string, int> napi_read(const Machine& machine, const Setting& s) {
  const auto which = napi_name_parse(s.name);
  if (!which) return tl::unexpected<int>(EINVAL);
  const auto napis = machine.ethtool.napis(s.interface);
  if (!napis) return tl::unexpected<int>(napis.error());
  for (const Napi& napi : *napis) {
    if (napi.id != which->id) continue;
    const auto& value = which->field == kNapiDefer ? napi.defer_hard_irqs : napi.gro_flush_timeout;
    if (!value) return tl::unexpected<int>(EOPNOTSUPP);
    return std::to_string(*value);
  }
  return tl::unexpected<int>(ENOENT);
}

int napi_set(const Machine& machine, const Setting& s, const std::string& value) {
  const auto which = napi_name_parse(s.name);
  const auto number = number_parse(value);
  if (!which || !number) return EINVAL;
  return machine.ethtool.napi_set(*which, *number);
}

std::string napi_command(const Setting& s, const std::string& value) {
  const NapiField which = napi_name_parse(s.name).value_or(NapiField{});
  return fmt::format(R"(ynl --family netdev --do napi-set --json '{{"id": {}, "{}": {}}}')", which.id,
                     which.field, value);
}

// Returns the place of this rule.
Expected<std::uint32_t, int> flow_find(const Machine& machine, const Setting& s, const FlowRule& rule) {
  if (rule.place != kAnyPlace) {
    const auto at = machine.ethtool.flow(s.interface, rule.place);
    if (!at) return tl::unexpected<int>(at.error());
    if (!at->rule || !same_work(*at->rule, rule)) return tl::unexpected<int>(ENOENT);
    return rule.place;
  }
  const auto table = machine.ethtool.flows(s.interface);
  if (!table) return tl::unexpected<int>(table.error());
  for (const FlowPlace& at : table->taken)
    if (at.rule && same_work(*at.rule, rule)) return at.place;
  return tl::unexpected<int>(ENOENT);
}

Expected<std::string, int> flow_read(const Machine& machine, const Setting& s) {
  const auto rule = steering::flow_parse(s.name);
  if (!rule) return tl::unexpected<int>(EINVAL);
  const auto at = flow_find(machine, s, *rule);
  if (!at && at.error() != ENOENT) return tl::unexpected<int>(at.error());
  return std::string(at ? kFlowThere : kFlowAbsent);
}

int flow_write(const Machine& machine, const Setting& s, const std::string& value) {
  const auto rule = steering::flow_parse(s.name);
  if (!rule) return EINVAL;
  if (value == kFlowThere) {
    // Drivers replace a rule that is already in the place.
    if (rule->place != kAnyPlace && machine.ethtool.flow(s.interface, rule->place)) return EEXIST;
    return machine.ethtool.flow_add(s.interface, *rule);
  }
  const auto at = flow_find(machine, s, *rule);
  if (!at) return at.error() == ENOENT ? 0 : at.error();
  return machine.ethtool.flow_remove(s.interface, *at);
}

std::string flow_text(const FlowRule& rule) {
  return fmt::format("flow rule for UDP port {} of IPv{} to queue {}{}", rule.port, rule.ipv6 ? 6 : 4,
                     rule.queue, rule.place == kAnyPlace ? "" : fmt::format(" in place {}", rule.place));
}

std::string flow_command(const Setting& s, const std::string& value) {
  const FlowRule rule = steering::flow_parse(s.name).value_or(FlowRule{});
  if (value != kFlowThere)
    return fmt::format("ethtool -N {} delete {}", s.interface,
                       rule.place == kAnyPlace ? "PLACE" : std::to_string(rule.place));
  return fmt::format("ethtool -N {} flow-type udp{} dst-port {} action {}{}", s.interface, rule.ipv6 ? 6 : 4,
                     rule.port, rule.queue,
                     rule.place == kAnyPlace ? "" : fmt::format(" loc {}", rule.place));
}

bool device_file_valid(std::string_view name) {
  if (name == "gro_flush_timeout" || name == "napi_defer_hard_irqs" || name == "threaded") return true;
  const bool rx = name.substr(0, 10) == "queues/rx-", tx = name.substr(0, 10) == "queues/tx-";
  return (rx || tx) && name.size() > 19 && name.substr(name.size() - 9) == (rx ? "/rps_cpus" : "/xps_cpus") &&
         all_digits(name.substr(10, name.size() - 19));
}

bool host_file_valid(std::string_view name) {
  return name.find("..") == std::string_view::npos &&
         (name.substr(0, kSysctls.size()) == kSysctls || name.substr(0, kProcessors.size()) == kProcessors);
}

}  // namespace

Expected<std::string, int> setting_read(const Machine& machine, const Setting& setting) {
  switch (setting.kind) {
    case SettingKind::coalescing:
      return coalescing_read(machine, setting);
    case SettingKind::ring:
      return ring_read(machine, setting);
    case SettingKind::feature:
      return feature_read(machine, setting);
    case SettingKind::flow:
      return flow_read(machine, setting);
    case SettingKind::napi:
      return napi_read(machine, setting);
    case SettingKind::device_file:
    case SettingKind::irq:
    case SettingKind::host_file:
      break;
  }
  return line_read(machine, path_of(setting));
}

int setting_write(const Machine& machine, const Setting& setting, const std::string& value) {
  switch (setting.kind) {
    case SettingKind::coalescing:
      return coalescing_write(machine, setting, value);
    case SettingKind::ring:
      return ring_write(machine, setting, value);
    case SettingKind::feature:
      return machine.ethtool.feature_set(setting.interface, setting.name, value == "on");
    case SettingKind::flow:
      return flow_write(machine, setting, value);
    case SettingKind::napi:
      return napi_set(machine, setting, value);
    case SettingKind::device_file:
    case SettingKind::irq:
    case SettingKind::host_file:
      break;
  }
  return line_write(machine, path_of(setting), value);
}

std::string setting_text(const Setting& s) {
  switch (s.kind) {
    case SettingKind::irq:
      return fmt::format("{} interrupt {}", s.interface, s.name);
    case SettingKind::ring:
      return fmt::format("{} {} ring", s.interface, s.name);
    case SettingKind::flow:
      return s.interface + " " + flow_text(steering::flow_parse(s.name).value_or(FlowRule{}));
    case SettingKind::host_file:
      return s.name;
    case SettingKind::napi:
      return fmt::format("{} NAPI {}", s.interface, s.name);
    case SettingKind::device_file:
    case SettingKind::coalescing:
    case SettingKind::feature:
      break;
  }
  return s.interface + " " + s.name;
}

std::string setting_command(const Setting& s, const std::string& value) {
  switch (s.kind) {
    case SettingKind::coalescing:
      return fmt::format("ethtool -C {} {} {}", s.interface, s.name, value);
    case SettingKind::ring:
      return fmt::format("ethtool -G {} {} {}", s.interface, s.name, value);
    case SettingKind::feature:
      return fmt::format("ethtool -K {} {} {}", s.interface, s.name, value);
    case SettingKind::flow:
      return flow_command(s, value);
    case SettingKind::napi:
      return napi_command(s, value);
    case SettingKind::device_file:
    case SettingKind::irq:
    case SettingKind::host_file:
      break;
  }
  return fmt::format("echo {} > {}", value, path_of(s));
}

std::string_view kind_name(SettingKind kind) {
  return kKindNames[static_cast<std::size_t>(kind)];
}

bool kind_parse(std::string_view name, SettingKind& kind) {
  const auto* const at = std::find(kKindNames.begin(), kKindNames.end(), name);
  if (at == kKindNames.end()) return false;
  kind = static_cast<SettingKind>(at - kKindNames.begin());
  return true;
}

bool setting_valid(const Setting& s) {
  if (s.kind == SettingKind::host_file) return s.interface.empty() && host_file_valid(s.name);
  if (s.interface.empty() || s.interface.find('/') != std::string::npos) return false;
  Coalescing c;
  Rings r;
  switch (s.kind) {
    case SettingKind::device_file:
      return device_file_valid(s.name);
    case SettingKind::coalescing:
      return switch_of(c, s.name) || number_of(c, s.name);
    case SettingKind::ring:
      return number_of(r, s.name);
    case SettingKind::irq:
      return all_digits(s.name);
    case SettingKind::flow:
      return steering::flow_parse(s.name).has_value();
    case SettingKind::napi:
      return napi_name_parse(s.name).has_value();
    case SettingKind::feature:
    case SettingKind::host_file:
      break;
  }
  return true;
}

}  // namespace omx::tuning
