// SPDX-License-Identifier: BSD-3-Clause
#include "base/cache_topology.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>

#include "base/affinity.h"

namespace omx {
namespace {

namespace fs = std::filesystem;

// Four processors: 0 and 1, and 2 and 3 share a cache of the third level. Each has one of the first.
class cache_topology : public testing::Test {
 protected:
  void SetUp() override {
    char path[] = "/tmp/omx_cache_XXXXXX";
    ASSERT_NE(::mkdtemp(path), nullptr);
    root_ = path;
    for (int cpu = 0; cpu < 4; cpu++) {
      cache(cpu, 0, "1", std::to_string(cpu));
      cache(cpu, 3, "3", cpu < 2 ? "0-1" : "2-3");
    }
  }
  void TearDown() override { fs::remove_all(root_); }
  void cache(int cpu, int index, const std::string& level, const std::string& shared) {
    const fs::path folder = fs::path(root_) / "sys/devices/system/cpu" / ("cpu" + std::to_string(cpu)) /
                            "cache" / ("index" + std::to_string(index));
    fs::create_directories(folder);
    std::ofstream(folder / "level") << level << "\n";
    std::ofstream(folder / "shared_cpu_list") << shared << "\n";
  }

  std::string root_;
};

TEST_F(cache_topology, shared__by_all_of_them) {
  EXPECT_TRUE(cache_shared({0}, root_));
  EXPECT_TRUE(cache_shared({2, 3}, root_));
  EXPECT_FALSE(cache_shared({0, 1, 2, 3}, root_));
  EXPECT_FALSE(cache_shared({1, 2}, root_));
}

TEST_F(cache_topology, unknown__is_not_shared) {
  EXPECT_FALSE(cache_shared({}, root_));
  EXPECT_FALSE(cache_shared({0}, root_ + "/nothing"));
  cache(0, 3, "?", "0-1");
  cache(0, 0, "1", "no list");
  EXPECT_FALSE(cache_shared({0, 1}, root_));
}

// The kernel of this machine may show no caches.
TEST_F(cache_topology, this_machine) {
  const std::vector<int> all = processors_online();
  if (cache_shared(all)) {
    EXPECT_TRUE(cache_shared({all.front()}));
  }
}

}  // namespace
}  // namespace omx
