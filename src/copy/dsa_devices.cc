// SPDX-License-Identifier: BSD-3-Clause
#include "copy/dsa_devices.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <optional>

#include "base/expected.h"
#include "base/text.h"

namespace omx::copy {

namespace fs = std::filesystem;

namespace {

using Line = Expected<std::string, std::string>;

// Returns the first line of an attribute, or a sentence that says why it cannot be read.
Line attribute(const fs::path& folder, const char* name) {
  std::ifstream file(folder / name);
  std::string line;
  if (!std::getline(file, line)) {
    return tl::unexpected<std::string>(
        fmt::format("{} cannot be read", shown((folder / name).string(), kPathShown)));
  }
  while (!line.empty() && (line.back() == ' ' || line.back() == '\r')) line.pop_back();
  return line;
}

std::optional<std::uint64_t> number(const fs::path& folder, const char* name) {
  const Line line = attribute(folder, name);
  if (!line) return std::nullopt;
  const bool hexadecimal = line->rfind("0x", 0) == 0;
  std::uint64_t value = 0;
  const char* const begin = line->data() + (hexadecimal ? 2 : 0);
  const auto [end, error] = std::from_chars(begin, line->data() + line->size(), value, hexadecimal ? 16 : 10);
  if (error != std::errc{} || end == begin) return std::nullopt;
  return value;
}

int node_of(const fs::path& device) {
  const Line line = attribute(device, "numa_node");
  int node = -1;
  if (line) std::from_chars(line->data(), line->data() + line->size(), node);
  return node;
}

// Returns the device of a queue: "dsa0" for "wq0.1".
std::string device_of(const std::string& queue) {
  const std::size_t dot = queue.find('.');
  return "dsa" + queue.substr(2, dot == std::string::npos ? dot : dot - 2);
}

// Returns an empty text, or why the device cannot be used.
std::string device_refusal(const fs::path& device, const std::string& name) {
  const Line state = attribute(device, "state");
  if (!state) return state.error();
  if (*state != "enabled")
    return fmt::format("{} is {}: accel-config enable-device {}", name, shown(*state), name);
  if (number(device, "pasid_enabled") != 1) {
    return fmt::format(
        "{} has no shared virtual memory (pasid_enabled is not 1): boot with intel_iommu=on,sm_on", name);
  }
  return {};
}

std::string queue_refusal(const fs::path& folder, const DsaQueue& queue) {
  const Line state = attribute(folder, "state"), type = attribute(folder, "type"),
             mode = attribute(folder, "mode");
  for (const Line* line : {&state, &type, &mode})
    if (!*line) return line->error();
  if (*type != "user") {
    return fmt::format("{0} is {1}, not for users: accel-config config-wq {2}/{0} --type=user --mode=shared",
                       queue.name, *type == "none" ? "not configured" : "for the " + shown(*type),
                       queue.device);
  }
  if (*state != "enabled")
    return fmt::format("{0} is {1}: accel-config enable-wq {2}/{0}", queue.name, shown(*state), queue.device);
  if (*mode != "shared" && *mode != "dedicated")
    return fmt::format("{} has the unknown mode {}", queue.name, shown(*mode));
  return {};
}

// Reads a queue. Each limit is the smaller one of the device's and the queue's.
Expected<DsaQueue, std::string> queue_read(const fs::path& devices, const std::string& name) {
  DsaQueue queue;
  queue.name = name;
  queue.device = device_of(name);
  const fs::path device = devices / queue.device, folder = devices / name;
  std::string refusal = device_refusal(device, queue.device);
  if (refusal.empty()) refusal = queue_refusal(folder, queue);
  if (!refusal.empty()) return tl::unexpected<std::string>(std::move(refusal));

  queue.shared = *attribute(folder, "mode") == "shared";
  const auto size = number(folder, "size"), transfer = number(folder, "max_transfer_size");
  if (!size.value_or(0) || !transfer.value_or(0)) {
    return tl::unexpected<std::string>(
        fmt::format("{} does not show its size and max_transfer_size", queue.name));
  }
  queue.size = static_cast<std::uint32_t>(*size);
  // A shared queue without a threshold would accept nothing. The driver does not allow such queues.
  queue.threshold =
      static_cast<std::uint32_t>(queue.shared ? number(folder, "threshold").value_or(1) : *size);
  queue.max_transfer = std::min(*transfer, number(device, "max_transfer_size").value_or(*transfer));
  const std::uint64_t batch = number(folder, "max_batch_size").value_or(1);
  queue.max_batch =
      static_cast<std::uint32_t>(std::min(batch, number(device, "max_batch_size").value_or(batch)));
  queue.cache_control = number(device, "gen_cap").value_or(0) >> 2 & 1;
  queue.numa_node = node_of(device);
  return queue;
}

bool better(const DsaQueue& a, const DsaQueue& b, int numa_node) {
  const bool a_near = numa_node >= 0 && a.numa_node == numa_node;
  const bool b_near = numa_node >= 0 && b.numa_node == numa_node;
  if (a_near != b_near) return a_near;
  if (a.shared != b.shared) return a.shared;
  return a.name < b.name;
}

}  // namespace

DsaFindings dsa_find(const DsaSystem& system, int numa_node) {
  DsaFindings findings;
  const fs::path devices = fs::path(system.sysfs_root) / "bus" / "dsa" / "devices";
  std::error_code error;
  std::vector<std::string> names;
  for (fs::directory_iterator entry(devices, error), end; !error && entry != end; entry.increment(error))
    names.push_back(entry->path().filename());
  if (error) {
    findings.refusals.push_back(fmt::format(
        "{} is not there, so the driver idxd is not loaded: modprobe idxd, on a machine with an Intel "
        "Data Streaming Accelerator (Xeon of the 4th generation or later)",
        devices.string()));
    return findings;
  }
  std::sort(names.begin(), names.end());
  bool any_device = false;
  for (const std::string& name : names) {
    if (name.rfind("dsa", 0) == 0) any_device = true;
    if (name.rfind("wq", 0) != 0) continue;
    // Queues of other accelerators (iax1/wq1.0) are on the same bus.
    if (!std::binary_search(names.begin(), names.end(), device_of(name))) continue;
    auto queue = queue_read(devices, name);
    if (!queue) {
      // A disabled device has many queues but is reported once.
      if (std::find(findings.refusals.begin(), findings.refusals.end(), queue.error()) ==
          findings.refusals.end())
        findings.refusals.push_back(std::move(queue.error()));
      continue;
    }
    queue->path = (fs::path(system.device_root) / "dsa" / name).string();
    findings.queues.push_back(std::move(*queue));
  }
  if (!any_device) findings.refusals.emplace_back("the driver idxd found no Data Streaming Accelerator");
  if (any_device && findings.queues.empty() && findings.refusals.empty()) {
    findings.refusals.emplace_back(
        "no accelerator has a work queue: accel-config config-wq dsa0/wq0.0 --type=user --mode=shared");
  }
  std::sort(findings.queues.begin(), findings.queues.end(),
            [numa_node](const DsaQueue& a, const DsaQueue& b) { return better(a, b, numa_node); });
  return findings;
}

}  // namespace omx::copy
