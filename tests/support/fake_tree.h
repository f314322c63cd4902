// SPDX-License-Identifier: BSD-3-Clause
// The /sys and /proc of a made-up machine, in a temporary folder.
#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "netdev/interfaces.h"

namespace omx::link {

class FakeTree : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (std::filesystem::temp_directory_path() / "omx-machine-XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    root = name;
    write("/sys/devices/system/cpu/online", "0-3");
  }
  void TearDown() override { std::filesystem::remove_all(root); }

  void write(const std::string& path, const std::string& text) const {
    const std::filesystem::path file = root.string() + path;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << text << '\n';
  }

  // Adds a network card, with its device folder.
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
  Interface interface_of(const std::string& name) const {
    for (const Interface& i : interfaces_list(root.string() + "/sys")) {
      if (i.name == name) return i;
    }
    ADD_FAILURE() << name;
    return {};
  }

  std::filesystem::path root;
};

}  // namespace omx::link
