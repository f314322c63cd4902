// SPDX-License-Identifier: BSD-3-Clause
// Which work queues of the driver idxd this process might use, and why not the others (copy-offload.md 2).
// Reads a few files of sysfs and opens nothing.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace omx::copy {

struct DsaSystem {
  std::string sysfs_root = "/sys";
  std::string device_root = "/dev";
  // open(2), returns a descriptor or -1 with errno; tests refuse with it.
  std::function<int(const std::string& path)> open;
};

struct DsaQueue {
  std::string name;                // "wq0.1"
  std::string device;              // "dsa0"
  std::string path;                // "/dev/dsa/wq0.1"
  int numa_node = -1;              // -1: not known
  bool shared = false;             // else dedicated: one open file only
  std::uint32_t size = 0;          // entries
  std::uint32_t threshold = 0;     // of a shared one: entries that users like us may fill
  std::uint64_t max_transfer = 0;  // bytes per descriptor
  bool cache_control = false;      // whether a destination may be sent to cache
};

struct DsaFindings {
  std::vector<DsaQueue> queues;       // best first: on the wanted node, then shared, then by name
  std::vector<std::string> refusals;  // of the others, and of a system without any: what and the remedy
};

// `numa_node`: where the owner runs, -1 when that does not matter.
DsaFindings dsa_find(const DsaSystem& system, int numa_node);

}  // namespace omx::copy
