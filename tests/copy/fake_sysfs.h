// SPDX-License-Identifier: BSD-3-Clause
// A folder made from a text in tests/data/dsa-sysfs, removed with its object.
#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "copy/dsa_devices.h"

namespace omx::copy {

class FakeSysfs {
 public:
  // An empty name stands for a system without the driver's folder.
  explicit FakeSysfs(const std::string& name) {
    char path[] = "/tmp/omx_dsa_XXXXXX";
    root_ = ::mkdtemp(path);
    std::filesystem::create_directories(root_ / "dev" / "dsa");
    if (name.empty()) return;
    const auto devices = root_ / "bus" / "dsa" / "devices";
    std::filesystem::create_directories(devices);
    std::ifstream text(std::string(OMX_DSA_SYSFS) + "/" + name + ".txt");
    EXPECT_TRUE(text.good()) << name;
    for (std::string line; std::getline(text, line);) {
      if (line.empty() || line[0] == '#' || line[0] == '.') continue;
      const auto file = devices / line.substr(0, line.find(' '));
      std::filesystem::create_directories(file.parent_path());
      const std::size_t value = line.find(" = ");
      if (value != std::string::npos)
        std::ofstream(file) << line.substr(value + 3) << "\n";
      else
        // A folder in place of the file, as root could read any file.
        std::filesystem::create_directories(file);
    }
  }
  ~FakeSysfs() {
    std::error_code error;
    std::filesystem::remove_all(root_, error);
  }
  FakeSysfs(const FakeSysfs&) = delete;
  FakeSysfs& operator=(const FakeSysfs&) = delete;

  DsaSystem system() const { return {.sysfs_root = root_, .device_root = root_ / "dev", .open = {}}; }
  std::filesystem::path device(const std::string& queue) const { return root_ / "dev" / "dsa" / queue; }

 private:
  std::filesystem::path root_;
};

}  // namespace omx::copy
