// SPDX-License-Identifier: BSD-3-Clause
#include "base/process_stat.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

namespace omx {
namespace {

TEST(process_stat, tells_a_process_that_runs_from_one_that_ended) {
  const auto own = process_stat(::getpid());
  ASSERT_TRUE(own);
  EXPECT_GT(own->started, 0U);
  EXPECT_FALSE(own->ended());
  const pid_t child = ::fork();
  if (child == 0) ::_exit(0);
  ASSERT_GT(child, 0);
  siginfo_t info{};
  EXPECT_EQ(::waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOWAIT), 0);
  const auto ended = process_stat(child);
  EXPECT_EQ(::waitpid(child, nullptr, 0), child);
  ASSERT_TRUE(ended);
  EXPECT_TRUE(ended->ended());
  EXPECT_GE(ended->started, own->started);
}

TEST(process_stat, nothing_where_there_is_no_process) {
  EXPECT_FALSE(process_stat(-1));
}

}  // namespace
}  // namespace omx
