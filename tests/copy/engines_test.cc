// SPDX-License-Identifier: BSD-3-Clause
#include "copy/engines.h"

#include <gmock/gmock.h>
#include <sched.h>

#include <thread>

#include "fake_sysfs.h"

namespace omx::copy {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

TEST(engines, have_names) {
  for (const EngineKind kind : {EngineKind::automatic, EngineKind::cpu, EngineKind::thread, EngineKind::dsa})
    EXPECT_EQ(engine_parse(engine_name(kind)), kind);
  EXPECT_FALSE(engine_parse("gpu"));
  EXPECT_FALSE(engine_parse(""));
}

TEST(engines, are_made_by_kind) {
  const FakeSysfs nothing("");
  const EngineOptions options{.dsa = nothing.system(), .thread_queue = 16};
  EXPECT_STREQ((*engine_create(EngineKind::cpu, options))->capabilities().name, "cpu");
  EXPECT_STREQ((*engine_create(EngineKind::automatic, options))->capabilities().name, "cpu");
  const auto thread = engine_create(EngineKind::thread, options);
  EXPECT_STREQ((*thread)->capabilities().name, "thread");
  EXPECT_EQ((*thread)->capabilities().most_outstanding, 16U);
  const auto dsa = engine_create(EngineKind::dsa, options);
  ASSERT_FALSE(dsa);
  EXPECT_EQ(dsa.error().mx_code, 5);  // MX_NO_DEV
  EXPECT_THAT(dsa.error().message, HasSubstr("modprobe idxd"));
}

TEST(engines, list_says_why_not) {
  const FakeSysfs kernel("kernel_queue");
  const auto facts = engine_list({.dsa = kernel.system()});
  ASSERT_EQ(facts.size(), 3U);
  EXPECT_EQ(facts[0].kind, EngineKind::cpu);
  EXPECT_TRUE(facts[0].available);
  EXPECT_EQ(facts[1].kind, EngineKind::thread);
  EXPECT_EQ(facts[2].kind, EngineKind::dsa);
  EXPECT_FALSE(facts[2].available);
  EXPECT_THAT(facts[2].text, AllOf(HasSubstr("wq0.0 is for the kernel"), HasSubstr("; wq0.1")));
}

TEST(engines, a_helper_thread_needs_a_second_processor) {
  const FakeSysfs nothing("");
  std::thread([&] {  // a thread has processors of its own
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(static_cast<std::size_t>(::sched_getcpu()), &one);
    ASSERT_EQ(::sched_setaffinity(0, sizeof one, &one), 0);
    const auto facts = engine_list({.dsa = nothing.system()});
    EXPECT_FALSE(facts[1].available);
    EXPECT_THAT(facts[1].text, HasSubstr("bind it to two or more"));
  })
      .join();
}

}  // namespace
}  // namespace omx::copy
