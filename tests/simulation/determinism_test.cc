// SPDX-License-Identifier: BSD-3-Clause
// The same seed gives the same run, byte for byte; another seed another one.
#include <gtest/gtest.h>

#include <set>

#include "simulation/mixed.h"

namespace omx::simulation {
namespace {

TEST(simulation, same_seed_same_run) {
  std::set<std::uint64_t> digests;
  for (std::uint64_t seed = 1; seed <= 20; seed++) {
    const RunResult first = mixed_run({seed, 300, nullptr});
    const RunResult second = mixed_run({seed, 300, nullptr});
    EXPECT_EQ(first.failure, "") << "seed " << seed;
    EXPECT_EQ(first.digest, second.digest) << "seed " << seed;
    EXPECT_EQ(first.time, second.time) << "seed " << seed;
    digests.insert(first.digest);
  }
  EXPECT_EQ(digests.size(), 20U);
}

TEST(simulation, a_trace_changes_nothing) {
  std::FILE* out = std::tmpfile();
  ASSERT_NE(out, nullptr);
  EXPECT_EQ(mixed_run({7, 200, out}).digest, mixed_run({7, 200, nullptr}).digest);
  EXPECT_GT(std::ftell(out), 0);
  std::fclose(out);
}

}  // namespace
}  // namespace omx::simulation
