// SPDX-License-Identifier: BSD-3-Clause
// The settings that network drivers report and accept. This is an interface, so that tests can have NICs that
// the machine lacks. Errors are errno values; EOPNOTSUPP means that the driver lacks the feature.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/expected.h"
#include "steering/flow_rule.h"
#include "tuning/napi.h"

namespace omx::tuning {

using steering::FlowPlace;
using steering::FlowRule;
using steering::FlowTable;
using steering::kAnyPlace;
using steering::kFlowAbsent;
using steering::kFlowThere;

struct Coalescing {
  bool adaptive_rx = false;
  bool adaptive_tx = false;
  std::uint32_t rx_usecs = 0;
  std::uint32_t rx_frames = 0;
  std::uint32_t tx_usecs = 0;
  std::uint32_t tx_frames = 0;
};

struct Channels {
  std::uint32_t rx = 0, rx_max = 0;
  std::uint32_t tx = 0, tx_max = 0;
  std::uint32_t combined = 0, combined_max = 0;
};

struct Rings {
  std::uint32_t rx = 0, rx_max = 0;
  std::uint32_t tx = 0, tx_max = 0;
};

struct Feature {
  std::string name;        // as the kernel names it: "rx-gro"
  bool available = false;  // may be switched
  bool requested = false;  // the value it was switched to, in force or not
  bool active = false;     // in force
};

class Ethtool {
 public:
  virtual ~Ethtool() = default;
  virtual Expected<Coalescing, int> coalescing(const std::string& interface) = 0;
  // Sets the values of `wanted`, and keeps all others of the driver.
  virtual int coalescing_set(const std::string& interface, const Coalescing& wanted) = 0;
  virtual Expected<Channels, int> channels(const std::string& interface) = 0;
  virtual Expected<Rings, int> rings(const std::string& interface) = 0;
  virtual int rings_set(const std::string& interface, const Rings& wanted) = 0;
  virtual Expected<std::vector<Feature>, int> features(const std::string& interface) = 0;
  virtual int feature_set(const std::string& interface, const std::string& feature, bool on) = 0;
  virtual Expected<std::vector<Napi>, int> napis(const std::string& interface) = 0;
  virtual int napi_set(const NapiField& which, std::uint64_t value) = 0;
  virtual Expected<FlowTable, int> flows(const std::string& interface) = 0;
  // Reads the rule at one place. ENOENT: the place is free.
  virtual Expected<FlowPlace, int> flow(const std::string& interface, std::uint32_t place) = 0;
  virtual int flow_add(const std::string& interface, const FlowRule& rule) = 0;
  virtual int flow_remove(const std::string& interface, std::uint32_t place) = 0;
};

}  // namespace omx::tuning
