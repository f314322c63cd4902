// SPDX-License-Identifier: BSD-3-Clause
// A machine that is not here: /sys and /proc in a temporary folder, and drivers in memory.
#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>

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
    std::function<void()> on_rings = {};  // what else such a driver does
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

 private:
  template <class T>
  static Expected<T, int> get(const std::optional<T>& value) {
    if (!value) return tl::unexpected<int>(EOPNOTSUPP);
    return *value;
  }
};

class FakeMachine : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (std::filesystem::temp_directory_path() / "omx-machine-XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    root = name;
    machine.root = root.string();
    write("/sys/devices/system/cpu/online", "0-3");
  }
  void TearDown() override { std::filesystem::remove_all(root); }

  void write(const std::string& path, const std::string& text) const {
    const std::filesystem::path file = root.string() + path;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << text << '\n';
  }
  std::string read(const std::string& path) const { return line_read(machine, path).value_or("unreadable"); }

  // A network card, with its device folder.
  void add_card(const std::string& name, int index, int node = -1) const {
    const std::string folder = "/sys/class/net/" + name;
    write(folder + "/ifindex", std::to_string(index));
    write(folder + "/iflink", std::to_string(index));
    write(folder + "/address", "02:00:00:00:00:0" + std::to_string(index));
    write(folder + "/mtu", "9000");
    write(folder + "/flags", "0x1003");
    write(folder + "/carrier", "1");
    write(folder + "/type", "1");
    write(folder + "/napi_defer_hard_irqs", "0");
    write(folder + "/gro_flush_timeout", "0");
    write("/sys/devices/" + name + "/numa_node", std::to_string(node));
    std::filesystem::create_directory_symlink(root / "sys" / "devices" / name,
                                              root.string() + folder + "/device");
  }
  void add_interrupt(const std::string& card, int number, const std::string& allowed) const {
    write("/sys/devices/" + card + "/msi_irqs/" + std::to_string(number), "msix");
    write("/proc/irq/" + std::to_string(number) + "/smp_affinity_list", allowed);
    write("/proc/irq/" + std::to_string(number) + "/effective_affinity_list", allowed.substr(0, 1));
  }
  link::Interface interface_of(const std::string& name) const {
    for (const link::Interface& i : machine.interfaces()) {
      if (i.name == name) return i;
    }
    ADD_FAILURE() << name;
    return {};
  }

  std::filesystem::path root;
  FakeEthtool drivers;
  Machine machine{drivers, {}};
};

}  // namespace omx::tuning
