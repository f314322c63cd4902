// SPDX-License-Identifier: BSD-3-Clause
#include "tools/cluster/agent_process.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "base/clock.h"

namespace omx::tools {

namespace {

using testing::HasSubstr;

constexpr TimeNs kSoon = 100'000'000;
constexpr TimeNs kPatience = 60'000'000'000;

std::unique_ptr<AgentProcess> started(const std::string& script) {
  auto agent = AgentProcess::start({"sh", "-c", script});
  EXPECT_TRUE(agent);
  return std::move(*agent);
}

TEST(agent_process, talks_by_input_and_output) {
  const auto agent = started("echo hello; cat");
  agent->send(Record{"clock", {}}.add("n", "1"));
  const auto record = agent->receive(clock_now() + kPatience);
  ASSERT_TRUE(record) << record.error().message;
  EXPECT_EQ(record->verb, "clock");
  EXPECT_FALSE(agent->ended());
}

TEST(agent_process, tells_why_it_ended) {
  const auto agent = started("echo 'no route to host' >&2; exit 1");
  const auto record = agent->receive(clock_now() + kPatience);
  ASSERT_FALSE(record);
  EXPECT_THAT(record.error().message, HasSubstr("its agent ended (\"no route to host\")"));
  EXPECT_TRUE(agent->ended());
}

TEST(agent_process, is_given_up_and_killed_when_silent) {
  std::string pid;
  {
    const auto agent = started("printf 'omx-check-1\\t%s\\n' $$; exec sleep 1000");
    const auto record = agent->receive(clock_now() + kPatience);
    ASSERT_TRUE(record) << record.error().message;
    pid = record->verb;
    EXPECT_THAT(agent->receive(clock_now() + kSoon).error().message, HasSubstr("does not answer"));
  }
  EXPECT_FALSE(std::filesystem::exists("/proc/" + pid));
}

TEST(agent_process, reports_a_command_that_does_not_exist) {
  const auto agent = AgentProcess::start({"/nowhere/omx"});
  ASSERT_TRUE(agent);
  EXPECT_THAT((*agent)->receive(clock_now() + kPatience).error().message, HasSubstr("its agent ended"));
}

// An agent whose input ended ends too, so none stays when the coordinator is killed.
TEST(agent_process, ends_by_the_end_of_its_input) {
  std::string pid;
  {
    const auto agent = started("printf 'omx-check-1\\t%s\\n' $$; cat >/dev/null");
    const auto record = agent->receive(clock_now() + kPatience);
    ASSERT_TRUE(record);
    pid = record->verb;
  }
  EXPECT_FALSE(std::filesystem::exists("/proc/" + pid));
}

}  // namespace

}  // namespace omx::tools
