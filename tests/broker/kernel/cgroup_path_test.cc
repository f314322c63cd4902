// SPDX-License-Identifier: BSD-3-Clause
#include "tools/broker/kernel/cgroup_path.h"

#include <gtest/gtest.h>

namespace omx::broker {
namespace {

constexpr std::string_view kUnified =
    "24 30 0:22 / /proc rw shared:12 - proc proc rw\n"
    "35 24 0:30 / /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw,nsdelegate\n";
constexpr std::string_view kHybrid =
    "31 20 0:27 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n"
    "40 20 0:33 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n";

TEST(cgroup_folder, unified) {
  EXPECT_EQ(cgroup_folder(kUnified, "0::/system.slice/omxd.service\n"),
            "/sys/fs/cgroup/system.slice/omxd.service");
  EXPECT_EQ(cgroup_folder(kUnified, "0::/\n"), "/sys/fs/cgroup");
}

TEST(cgroup_folder, hybrid__the_line_of_version_2) {
  EXPECT_EQ(cgroup_folder(kHybrid, "9:name=systemd:/a\n1:cpu:/b\n0::/c\n"), "/sys/fs/cgroup/unified/c");
}

TEST(cgroup_folder, part_of_the_tree_is_mounted) {
  constexpr std::string_view part = "35 24 0:30 /jobs /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n";
  EXPECT_EQ(cgroup_folder(part, "0::/jobs/7\n"), "/sys/fs/cgroup/7");
  EXPECT_EQ(cgroup_folder(part, "0::/jobs\n"), "/sys/fs/cgroup");
  EXPECT_EQ(cgroup_folder(part, "0::/jobsoup\n"), std::nullopt);
  EXPECT_EQ(cgroup_folder(part, "0::/other\n"), std::nullopt);
}

TEST(cgroup_folder, blanks_in_the_mount_point) {
  EXPECT_EQ(cgroup_folder("35 24 0:30 / /my\\040groups rw - cgroup2 none rw\n", "0::/x y\n"),
            "/my groups/x y");
}

TEST(cgroup_folder, none) {
  EXPECT_EQ(cgroup_folder("", "0::/\n"), std::nullopt);
  EXPECT_EQ(cgroup_folder(kUnified, ""), std::nullopt);
  EXPECT_EQ(cgroup_folder(kUnified, "1:cpu:/b\n"), std::nullopt);
  EXPECT_EQ(cgroup_folder("31 20 0:27 / /x rw - cgroup cgroup rw\n", "0::/c\n"), std::nullopt);
  EXPECT_EQ(cgroup_folder("31 20 0:27\n-\n31 20 0:27 / /x rw -\n", "0::/c\n"), std::nullopt);
}

}  // namespace
}  // namespace omx::broker
