// SPDX-License-Identifier: BSD-3-Clause
// A made-up machine, with drivers in memory.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "fake_flows.h"
#include "fake_tree.h"
#include "tuning/machine.h"

namespace omx::tuning {

class FakeEthtool final : public Ethtool {
 public:
  struct Nic {
    std::optional<Coalescing> coalescing;
    std::optional<Channels> channels;
    std::optional<Rings> rings;
    std::vector<Feature> features;
    int refuses = 0;                      // errno for each change
    bool adaptive_blocks = false;         // refuses other values while adaptive-rx is on
    bool shared_delay = false;            // tx-usecs follows rx-usecs
    std::function<void()> on_rings = {};  // a side effect of such a driver
    steering::FakeFlows flows = {};
    std::optional<std::vector<Napi>> napis = {};
  };
  std::map<std::string, Nic> nics;

  Expected<Coalescing, int> coalescing(const std::string& interface) override {
    return get(nics[interface].coalescing);
  }
  int coalescing_set(const std::string& interface, const Coalescing& wanted) override {
    Nic& nic = nics[interface];
    if (nic.refuses) return nic.refuses;
    const Coalescing& now = *nic.coalescing;
    if (nic.adaptive_blocks && now.adaptive_rx && wanted.rx_usecs != now.rx_usecs) return EINVAL;
    const bool follows = nic.shared_delay && wanted.rx_usecs != now.rx_usecs;
    nic.coalescing = wanted;
    if (follows) nic.coalescing->tx_usecs = wanted.rx_usecs;
    return 0;
  }
  Expected<Channels, int> channels(const std::string& interface) override {
    return get(nics[interface].channels);
  }
  Expected<Rings, int> rings(const std::string& interface) override { return get(nics[interface].rings); }
  int rings_set(const std::string& interface, const Rings& wanted) override {
    Nic& nic = nics[interface];
    if (nic.refuses) return nic.refuses;
    nic.rings = wanted;
    if (nic.on_rings) nic.on_rings();
    return 0;
  }
  Expected<std::vector<Feature>, int> features(const std::string& interface) override {
    if (nics[interface].features.empty()) return tl::unexpected<int>(EOPNOTSUPP);
    return nics[interface].features;
  }
  int feature_set(const std::string& interface, const std::string& feature, bool on) override {
    if (nics[interface].refuses) return nics[interface].refuses;
    for (Feature& f : nics[interface].features) {
      if (f.name == feature) f.requested = f.active = on;
    }
    return 0;
  }
  Expected<std::vector<Napi>, int> napis(const std::string& interface) override {
    return get(nics[interface].napis);
  }
  int napi_set(const NapiField& which, std::uint64_t value) override {
    for (auto& [name, nic] : nics) {
      if (!nic.napis) continue;
      for (Napi& napi : *nic.napis) {
        if (napi.id != which.id) continue;
        (which.field == kNapiDefer ? napi.defer_hard_irqs : napi.gro_flush_timeout) = value;
        return 0;
      }
    }
    return ENOENT;
  }
  Expected<FlowTable, int> flows(const std::string& interface) override {
    return steering::flow_table_read(nics[interface].flows.call());
  }
  Expected<FlowPlace, int> flow(const std::string& interface, std::uint32_t place) override {
    return steering::flow_place_read(nics[interface].flows.call(), place);
  }
  int flow_add(const std::string& interface, const FlowRule& rule) override {
    return steering::flow_insert(nics[interface].flows.call(), rule);
  }
  int flow_remove(const std::string& interface, std::uint32_t place) override {
    return steering::flow_delete(nics[interface].flows.call(), place);
  }

 private:
  template <class T>
  static Expected<T, int> get(const std::optional<T>& value) {
    if (!value) return tl::unexpected<int>(EOPNOTSUPP);
    return *value;
  }
};

class FakeMachine : public link::FakeTree {
 protected:
  void SetUp() override {
    FakeTree::SetUp();
    machine.root = root.string();
  }
  std::string read(const std::string& path) const { return line_read(machine, path).value_or("unreadable"); }

  FakeEthtool drivers;
  Machine machine{drivers, {}};
};

}  // namespace omx::tuning
