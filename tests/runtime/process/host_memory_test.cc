// SPDX-License-Identifier: BSD-3-Clause
// The part of the host's memory that all processes share, and how large it is.
#include "runtime/process/host_memory.h"
#include "tests/support/signal_child.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace omx::runtime {
namespace {

class MemoryLimit : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = testing::TempDir() + "omx-memory-XXXXXX";
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    root = name;
    file("/proc/meminfo", "MemFree: 5 kB\nMemTotal:       8388608 kB\nSwapTotal: 7 kB\n");
  }
  void TearDown() override { std::filesystem::remove_all(root); }
  void file(const std::string& path, const std::string& text) const {
    std::filesystem::create_directories(std::filesystem::path(root + path).parent_path());
    std::ofstream(root + path) << text;
  }
  static constexpr std::uint64_t kGiB = 1ULL << 30;
  std::string root;
};

TEST_F(MemoryLimit, host__without_groups) {
  EXPECT_EQ(memory_limit(root), 8 * kGiB);
}

TEST_F(MemoryLimit, nothing_known) {
  std::filesystem::remove_all(root + "/proc");
  EXPECT_EQ(memory_limit(root), 0U);
}

TEST_F(MemoryLimit, version_2__the_least_of_all_levels) {
  file("/proc/self/cgroup", "0::/a/b/c\n");
  file("/sys/fs/cgroup/a/b/c/memory.max", "max\n");
  EXPECT_EQ(memory_limit(root), 8 * kGiB);
  file("/sys/fs/cgroup/a/memory.max", "2147483648\n");
  EXPECT_EQ(memory_limit(root), 2 * kGiB);
  file("/sys/fs/cgroup/a/b/memory.max", "3221225472\n");
  EXPECT_EQ(memory_limit(root), 2 * kGiB);
  file("/sys/fs/cgroup/memory.max", "1073741824\n");
  EXPECT_EQ(memory_limit(root), kGiB) << "what a container sees as the root";
}

TEST_F(MemoryLimit, version_1__the_group_of_memory) {
  file("/proc/self/cgroup", "12:cpu,cpuacct:/x\n11:memory:/job/step\n0::/\n");
  file("/sys/fs/cgroup/memory/job/memory.limit_in_bytes", "1073741824\n");
  file("/sys/fs/cgroup/memory/job/step/memory.limit_in_bytes", "9223372036854771712\n");
  EXPECT_EQ(memory_limit(root), kGiB);
}

TEST_F(MemoryLimit, paths_that_lead_out_count_as_the_root) {
  file("/proc/self/cgroup", "0::/../../other\n");
  file("/sys/fs/cgroup/memory.max", "1073741824\n");
  EXPECT_EQ(memory_limit(root), kGiB);
}

class HostMemoryTest : public testing::Test {
 protected:
  // In a network namespace of our own, other processes of this machine hold no parts.
  void SetUp() override {
    if (::unshare(CLONE_NEWNET) != 0) GTEST_SKIP() << "needs root, for a network namespace of its own";
  }
  static constexpr std::size_t kMiB = 1U << 20, kQuarter = 64 * kMiB;
};

TEST_F(HostMemoryTest, all_can_be_taken_and_no_more) {
  HostMemory memory(kQuarter);
  EXPECT_EQ(memory.available(), kQuarter);
  EXPECT_TRUE(memory.take(kQuarter - kMiB));
  EXPECT_FALSE(memory.take(2 * kMiB));
  EXPECT_TRUE(memory.take(kMiB));
  EXPECT_EQ(memory.available(), 0U);
  memory.give(kQuarter);
  EXPECT_EQ(memory.available(), kQuarter);
}

TEST_F(HostMemoryTest, two_share_it) {
  HostMemory one(kQuarter), other(kQuarter);
  ASSERT_TRUE(one.take(kQuarter / 2));
  EXPECT_FALSE(other.take(kQuarter / 2 + kQuarter / 4));
  // Parts that are not enough stay free, for other processes and for smaller requests.
  EXPECT_TRUE(other.take(kQuarter / 8));
  HostMemory another(kQuarter);
  EXPECT_TRUE(another.take(kQuarter / 4 + kQuarter / 8));
  EXPECT_FALSE(other.take(kQuarter / 8));
  one.give(kQuarter / 2);
  HostMemory third(kQuarter);
  EXPECT_TRUE(third.take(kQuarter / 4));
}

TEST_F(HostMemoryTest, killed_process__gives_back) {
  int ready[2];
  ASSERT_EQ(::pipe(ready), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    HostMemory memory(kQuarter);
    const char taken = memory.take(kQuarter) ? 1 : 0;
    if (::write(ready[1], &taken, 1) != 1) ::_exit(1);
    for (;;) ::pause();
  }
  char taken = 0;
  ASSERT_EQ(::read(ready[0], &taken, 1), 1);
  EXPECT_EQ(taken, 1);
  HostMemory memory(kQuarter);
  EXPECT_FALSE(memory.take(kMiB));
  signal_child(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  HostMemory later(kQuarter);
  EXPECT_TRUE(later.take(kQuarter));
  ::close(ready[0]);
  ::close(ready[1]);
}

// A forked child does not hold the parts of its parent.
TEST_F(HostMemoryTest, forked_child__takes_parts_itself) {
  HostMemory& memory = HostMemory::of_process();
  const std::uint64_t all = memory.quarter();
  ASSERT_TRUE(memory.take(all / 2));
  const pid_t child = ::fork();
  if (child == 0) {
    HostMemory& own = HostMemory::of_process();
    ::_exit(&own != &memory && !own.take(all / 4 * 3) && own.take(all / 4) ? 0 : 1);
  }
  int status = -1;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  memory.give(all / 2);
}

TEST_F(HostMemoryTest, endpoint_base__follows_the_machine) {
  EXPECT_EQ(HostMemory(64 * kMiB).endpoint_base(), kMiB);
  EXPECT_EQ(HostMemory(std::uint64_t{64} << 30).endpoint_base(), 16 * kMiB);
}

}  // namespace
}  // namespace omx::runtime
