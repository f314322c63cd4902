// SPDX-License-Identifier: BSD-3-Clause
// The same seed gives the same run, byte for byte. Another seed gives another run.
#include <gtest/gtest.h>

#include <set>

#include "simulation/engine/churn.h"
#include "simulation/engine/random_mix.h"
#include "simulation/engine/stalls.h"

namespace omx::simulation {
namespace {

class Determinism : public testing::TestWithParam<RunResult (*)(const RunOptions&)> {};

TEST_P(Determinism, same_seed_same_run) {
  std::set<std::uint64_t> digests;
  for (std::uint64_t seed = 1; seed <= 20; seed++) {
    const RunResult first = GetParam()({seed, 300, nullptr});
    const RunResult second = GetParam()({seed, 300, nullptr});
    EXPECT_EQ(first.failure, "") << "seed " << seed;
    EXPECT_EQ(first.digest, second.digest) << "seed " << seed;
    EXPECT_EQ(first.time, second.time) << "seed " << seed;
    digests.insert(first.digest);
  }
  EXPECT_EQ(digests.size(), 20U);
}

TEST_P(Determinism, a_trace_changes_nothing) {
  std::FILE* out = std::tmpfile();
  ASSERT_NE(out, nullptr);
  EXPECT_EQ(GetParam()({7, 200, out}).digest, GetParam()({7, 200, nullptr}).digest);
  EXPECT_GT(std::ftell(out), 0);
  std::fclose(out);
}

using Parameter = testing::TestParamInfo<RunResult (*)(const RunOptions&)>;
std::string workload_name(const Parameter& parameter) {
  static constexpr const char* kNames[] = {"random_mix", "congestion", "churn", "stalls"};
  return kNames[parameter.index];
}
INSTANTIATE_TEST_SUITE_P(Workloads, Determinism,
                         testing::Values(&random_mix_run, &congestion_run, &churn_run, &stalls_run),
                         workload_name);

}  // namespace
}  // namespace omx::simulation
