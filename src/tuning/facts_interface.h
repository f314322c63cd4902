// SPDX-License-Identifier: BSD-3-Clause
// The facts that `omx check` and `omx tune` read about an interface.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "steering/interrupts.h"
#include "tuning/machine.h"

namespace omx::tuning {

using steering::Interrupt;

// A queue's mask of processors, as the kernel writes it: "00000000,0000000f".
struct QueueMask {
  std::string queue;  // "rx-0"
  std::string mask;
};

struct InterfaceFacts {
  link::Interface interface;
  std::vector<std::string> below;  // interfaces below a bond, VLAN or bridge, if visible in this namespace
  bool sysfs = false;              // /sys shows this interface; otherwise facts from /sys are unknown
  Expected<Coalescing, int> coalescing;
  Expected<Channels, int> channels;
  Expected<Rings, int> rings;
  Expected<std::vector<Feature>, int> features;
  std::optional<std::string> defer_hard_irqs;    // no such file before Linux 5.8
  std::optional<std::string> gro_flush_timeout;  // ns
  std::optional<std::string> threaded;
  Expected<std::vector<Napi>, int> napis;  // settings of single queues
  std::vector<QueueMask> rps;
  std::vector<QueueMask> xps;
  std::vector<Interrupt> interrupts;  // of receive queues, by queue
  // Open endpoints found that GSO batches, which the NIC should cut into datagrams, do not arrive.
  bool segmentation_fails = false;
};

InterfaceFacts interface_facts_read(const Machine& machine, const link::Interface& interface);

}  // namespace omx::tuning
