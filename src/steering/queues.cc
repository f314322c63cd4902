// SPDX-License-Identifier: BSD-3-Clause
#include "steering/queues.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "base/affinity.h"
#include "base/cpu_list.h"
#include "base/number.h"
#include "base/text_file.h"
#include "steering/interrupts.h"

namespace omx::steering {

namespace {

constexpr std::string_view kBelow = "lower_", kReceive = "rx-";
constexpr unsigned kStacked = 4;  // a VLAN on a bond on a NIC, and one more

std::vector<int> both(const std::vector<int>& some, const std::vector<int>& others) {
  std::vector<int> common;
  for (const int cpu : some)
    if (std::find(others.begin(), others.end(), cpu) != others.end()) common.push_back(cpu);
  return common;
}

// Returns the processors that the interrupt goes to, or else may go to. An interrupt that may go to all
// processors tells nothing.
std::vector<int> processors_of(const Interrupt& interrupt, const std::vector<int>& online) {
  auto cpus = both(cpu_list_parse(interrupt.effective), online);
  if (!cpus.empty()) return cpus;
  cpus = both(cpu_list_parse(interrupt.allowed), online);
  return cpus.size() < online.size() || online.size() == 1 ? cpus : std::vector<int>{};
}

// Adds what interrupts tell. Drivers may number interrupts from 1, or have one for all queues.
void interrupts_add(const std::string& root, const link::Interface& interface, const std::vector<int>& online,
                    ReceiveQueues& all) {
  const auto interrupts = interrupts_read(root, interface);
  const bool each = static_cast<int>(interrupts.size()) == all.count;
  for (std::size_t i = 0; i < interrupts.size(); i++) {
    const Interrupt& interrupt = interrupts[i];
    const int number = each ? static_cast<int>(i) : interrupt.queue;
    if (!all.queues.empty() && all.queues.back().number == number) continue;
    all.queues.push_back({number, interrupt.number, processors_of(interrupt, online),
                          fmt::format("interrupt {} ({})", interrupt.number, interrupt.name)});
  }
  // If the numbers have no gaps, these are all queues.
  const bool whole = !all.queues.empty() && all.queues.front().number == 0 &&
                     all.queues.back().number + 1 == static_cast<int>(all.queues.size());
  if (whole) all.count = static_cast<int>(all.queues.size());
}

std::vector<int> rps_read(const std::string& folder, int queue) {
  return cpu_mask_parse(line_read(fmt::format("{}/queues/rx-{}/rps_cpus", folder, queue)).value_or(""));
}

int queues_count(const std::string& folder) {
  const auto names = folder_list(folder + "/queues");
  return static_cast<int>(std::count_if(
      names.begin(), names.end(), [](const std::string& name) { return name.rfind(kReceive, 0) == 0; }));
}

// Adds what RPS tells. RPS hands frames on to other processors than the interrupt's.
void rps_add(const std::string& folder, const std::vector<int>& online, ReceiveQueues& all) {
  std::map<int, ReceiveQueue> queues;
  for (ReceiveQueue& queue : all.queues) queues.emplace(queue.number, std::move(queue));
  for (int number = 0; number < all.count; number++) {
    const auto cpus = both(rps_read(folder, number), online);
    if (cpus.empty()) continue;
    all.rps = true;
    ReceiveQueue& queue = queues[number];
    queue.number = number;
    queue.processors = cpus;
    queue.source = fmt::format("RPS of {} rx-{}", all.interface, number);
  }
  all.queues.clear();
  for (auto& [number, queue] : queues) all.queues.push_back(std::move(queue));
}

void steering_add(const link::Interface& interface, const std::vector<int>& online, ReceiveQueues& all) {
  all.steered = steered_read(interface, all.interface);
  for (int& cpu : all.steered.processors)
    if (std::find(online.begin(), online.end(), cpu) == online.end()) cpu = -1;
}

// Returns the interface below this one, or nothing if there is none or several.
std::string below(const std::string& folder) {
  std::string found;
  for (const std::string& name : folder_list(folder)) {
    if (name.rfind(kBelow, 0) != 0) continue;
    if (!found.empty()) return {};
    found = name.substr(kBelow.size());
  }
  return found;
}

}  // namespace

std::optional<ReceiveQueue> queue_find(const ReceiveQueues& queues, std::uint32_t endpoint) {
  if (steering_decides(queues) && endpoint < queues.steered.processors.size()) {
    // A processor that was switched off after steering began does not handle frames.
    const int cpu = queues.steered.processors[endpoint];
    return ReceiveQueue{-1, "", cpu < 0 ? std::vector<int>{} : std::vector<int>{cpu},
                        "omx steer on " + queues.steered.interface};
  }
  const bool ruled = flow_decides(queues, endpoint);
  if (queues.udp && !ruled && queues.count != 1) return std::nullopt;
  // If numbers have gaps, only existing queues are found.
  const int wanted = ruled              ? queues.flows[endpoint]
                     : queues.count > 0 ? queue_of(endpoint, queues.count)
                                        : static_cast<int>(std::min(endpoint, 65535U));
  const auto found = std::find_if(queues.queues.begin(), queues.queues.end(),
                                  [&](const ReceiveQueue& queue) { return queue.number == wanted; });
  if (found == queues.queues.end()) return std::nullopt;
  ReceiveQueue queue = *found;
  if (ruled) queue.source = fmt::format("a flow rule, by {},", queue.source);
  return queue;
}

std::vector<int> rps_queues(const std::string& root, const link::Interface& interface) {
  std::vector<int> found;
  if (!sysfs_shows(root, interface)) return found;
  const std::string folder = root + "/sys/class/net/" + interface.name;
  for (int number = 0; number < queues_count(folder); number++)
    if (!rps_read(folder, number).empty()) found.push_back(number);
  return found;
}

ReceiveQueues receive_queues_read(const std::string& root, const link::Interface& interface,
                                  const DatagramPorts* udp) {
  ReceiveQueues all;
  all.interface = interface.name;
  all.udp = udp != nullptr;
  if (!sysfs_shows(root, interface)) return all;
  const std::vector<int> online = processors_online(root);
  link::Interface at = interface;
  for (unsigned i = 0; i < kStacked; i++) {
    const std::string folder = root + "/sys/class/net/" + at.name;
    const std::string lower = below(folder);
    if (lower.empty()) {
      all.interface = at.name;
      all.count = queues_count(folder);
      interrupts_add(root, at, online, all);
      rps_add(folder, online, all);
      if (root.empty() && !udp) steering_add(interface, online, all);
      if (root.empty() && udp) all.flows = flow_hints_read(all.interface, *udp);
      return all;
    }
    at = link::Interface();
    at.name = lower;
  }
  return all;
}

}  // namespace omx::steering
