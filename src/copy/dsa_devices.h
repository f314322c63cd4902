// SPDX-License-Identifier: BSD-3-Clause
// Finds the work queues of the idxd driver that this process might use, and says why it cannot use others
// (docs/spec/copy-offload.md 2). Reads a few files of sysfs and opens no device.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace omx::copy {

struct DsaSystem {
  std::string sysfs_root = "/sys";
  std::string device_root = "/dev";
  // Works as open(2) does: returns a descriptor, or -1 with errno. Tests let it refuse.
  std::function<int(const std::string& path)> open;
};

struct DsaQueue {
  std::string name;                // "wq0.1"
  std::string device;              // "dsa0"
  std::string path;                // "/dev/dsa/wq0.1"
  int numa_node = -1;              // -1: not known
  bool shared = false;             // otherwise dedicated: one open file only
  std::uint32_t size = 0;          // entries
  std::uint32_t threshold = 0;     // of a shared queue: entries that unprivileged users may fill
  std::uint64_t max_transfer = 0;  // bytes per descriptor
  std::uint32_t max_batch = 1;     // descriptors of a list
  bool cache_control = false;      // whether a destination may be sent to cache
};

struct DsaFindings {
  std::vector<DsaQueue> queues;       // best first: on the preferred node, then shared ones, then by name
  std::vector<std::string> refusals;  // why other queues, or none at all, can be used, with the remedy
};

// Finds the queues. `numa_node` is the owner's node, or -1 when that does not matter.
DsaFindings dsa_find(const DsaSystem& system, int numa_node);

}  // namespace omx::copy
