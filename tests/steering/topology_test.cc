// SPDX-License-Identifier: BSD-3-Clause
#include "steering/topology.h"

#include <gmock/gmock.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/affinity.h"

namespace {

int g_moves = 0;

}  // namespace

// Replaces the C library's function, for hwloc as well.
extern "C" int sched_setaffinity(pid_t thread, size_t bytes, const cpu_set_t* set) noexcept {
  g_moves++;
  return static_cast<int>(::syscall(SYS_sched_setaffinity, thread, bytes, set));
}

namespace omx::steering {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::unique_ptr<Topology> described(const std::string& synthetic) {
  auto topology = topology_load(synthetic);
  if (!topology) {
    ADD_FAILURE() << topology.error();
    return nullptr;
  }
  return std::move(*topology);
}

TEST(topology, two_packages_with_a_cache_each) {
  const auto host = described("pack:2 l3:1 core:4 pu:1");
  EXPECT_THAT(host->beside(1), ElementsAre(0, 2, 3));
  EXPECT_THAT(host->beside(6), ElementsAre(4, 5, 7));
}

TEST(topology, the_smaller_cache_first) {
  const auto host = described("pack:1 l3:2 l2:2 core:2 pu:1");
  EXPECT_THAT(host->beside(2), ElementsAre(3, 0, 1));
  EXPECT_THAT(host->beside(5), ElementsAre(4, 6, 7));
}

// Threads of one core share its units, so other cores come first, and then their other threads.
TEST(topology, other_cores_before_the_same_core) {
  const auto host = described("pack:1 l3:1 core:3 pu:2(indexes=0,3,1,4,2,5)");
  EXPECT_THAT(host->beside(0), ElementsAre(1, 2, 4, 5, 3));
  EXPECT_THAT(host->beside(3), ElementsAre(1, 2, 0, 4, 5));
}

TEST(topology, nothing_shared_or_not_there) {
  const auto host = described("pack:2 core:2 pu:1");
  EXPECT_THAT(host->beside(0), IsEmpty());
  EXPECT_THAT(host->beside(17), IsEmpty());
  EXPECT_FALSE(topology_load("nonsense:x"));
}

TEST(topology, of_this_host) {
  const auto host = described("");
  for (int cpu = 0; cpu < processor_numbers(); cpu++)
    EXPECT_THAT(host->beside(cpu), testing::Not(testing::Contains(cpu)));
}

TEST(topology, the_caller_is_not_moved) {
  const std::vector<int> before = affinity_read();
  ASSERT_EQ(affinity_set(before), 0);
  ASSERT_GT(g_moves, 0);
  g_moves = 0;
  described("");
  EXPECT_EQ(g_moves, 0);
  EXPECT_EQ(affinity_read(), before);
}

}  // namespace
}  // namespace omx::steering
