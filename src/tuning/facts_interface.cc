// SPDX-License-Identifier: BSD-3-Clause
#include "tuning/facts_interface.h"

namespace omx::tuning {

namespace {

constexpr std::string_view kBelow = "lower_";  // one link for each interface below

}  // namespace

InterfaceFacts interface_facts_read(const Machine& machine, const link::Interface& interface) {
  InterfaceFacts facts;
  facts.interface = interface;
  facts.coalescing = machine.ethtool.coalescing(interface.name);
  facts.channels = machine.ethtool.channels(interface.name);
  facts.rings = machine.ethtool.rings(interface.name);
  facts.features = machine.ethtool.features(interface.name);
  facts.napis = machine.ethtool.napis(interface.name);
  facts.sysfs = steering::sysfs_shows(machine.root, interface);
  if (!facts.sysfs) return facts;
  const std::string folder = "/sys/class/net/" + interface.name;
  for (const std::string& name : folder_list(machine, folder)) {
    if (name.rfind(kBelow, 0) == 0) facts.below.push_back(name.substr(kBelow.size()));
  }
  facts.defer_hard_irqs = line_if_any(machine, folder + "/napi_defer_hard_irqs");
  facts.gro_flush_timeout = line_if_any(machine, folder + "/gro_flush_timeout");
  facts.threaded = line_if_any(machine, folder + "/threaded");
  for (const std::string& queue : folder_list(machine, folder + "/queues")) {
    std::string path = folder + "/queues/";
    path += queue;
    if (auto mask = line_if_any(machine, path + "/rps_cpus")) facts.rps.push_back({queue, std::move(*mask)});
    // The file of an interface with one queue cannot be read.
    if (auto mask = line_if_any(machine, path + "/xps_cpus")) facts.xps.push_back({queue, std::move(*mask)});
  }
  facts.interrupts = steering::interrupts_read(machine.root, interface);
  return facts;
}

}  // namespace omx::tuning
