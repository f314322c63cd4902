// SPDX-License-Identifier: BSD-3-Clause
// What is read of an interface, before anybody judges it.
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
  std::vector<std::string> below;  // what a bond, VLAN or bridge stands on, as far as this namespace shows it
  bool sysfs = false;              // /sys shows this interface; else what lies there is not known
  Expected<Coalescing, int> coalescing;
  Expected<Channels, int> channels;
  Expected<Rings, int> rings;
  Expected<std::vector<Feature>, int> features;
  std::optional<std::string> defer_hard_irqs;    // no such file before Linux 5.8
  std::optional<std::string> gro_flush_timeout;  // ns
  std::optional<std::string> threaded;
  Expected<std::vector<Napi>, int> napis;  // what queues have apart
  std::vector<QueueMask> rps;
  std::vector<QueueMask> xps;
  std::vector<Interrupt> interrupts;  // of receive queues, by queue
  // Open endpoints found that datagrams which the NIC should make out of larger ones do not arrive.
  bool segmentation_fails = false;
};

InterfaceFacts interface_facts_read(const Machine& machine, const link::Interface& interface);

}  // namespace omx::tuning
