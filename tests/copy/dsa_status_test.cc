// SPDX-License-Identifier: BSD-3-Clause
// Test 7 of docs/spec/copy-offload.md 11: the data are right in the end, whatever status comes.
#include "tests/support/dsa_rig.h"

namespace omx::copy {
namespace {

enum class After { on, off, on_until_many };

After expected(unsigned code) {
  switch (code) {
    case 0x01:
    case 0x03:
      return After::on;
    case 0x04:
    case 0x06:
    case 0x1a:
    case 0x1f:
      return After::on_until_many;
    default:
      return After::off;
  }
}

TEST(dsa_status, of_any_value_leaves_the_data_right) {
  const Pages source(1, 1);
  for (unsigned status = 1; status < 256; status++) {
    SCOPED_TRACE(status);
    const unsigned code = status & 0x7f;
    // 0x01 would be a lie that cannot be noticed, and bit 7 alone is no status.
    if (code == 0x01 || code == 0) continue;
    DsaRig rig({});
    rig.device.script().inject[0] = static_cast<std::uint8_t>(status);
    const Pages destination(1);
    const Submission s = rig.engine->submit({source.data(), destination.data(), 4000});
    EXPECT_TRUE(rig.engine->drain(kNever));
    EXPECT_TRUE(same_bytes(source.data(), destination.data(), 4000));
    EXPECT_EQ(destination.data()[4000], std::byte{0});
    EXPECT_FALSE(rig.engine->failed(s.ticket)) << "the device is done with it";
    const bool off = expected(code) == After::off;
    EXPECT_EQ(*rig.engine->disabled_reason() != '\0', off);
    EXPECT_EQ(rig.count(Counter::cpu_error), off ? 1U : 0U);
    EXPECT_EQ(rig.count(Counter::cpu_fault), expected(code) == After::on_until_many ? 1U : 0U);
    EXPECT_EQ(rig.count(Counter::resubmissions), code == 0x03 ? 1U : 0U);
    EXPECT_EQ(rig.count(Counter::disabled), off ? 1U : 0U);
    EXPECT_EQ(rig.engine->submit({source.data(), destination.data(), 10}).answer,
              off ? Answer::unavailable : Answer::accepted);
    rig.engine->drain(kNever);
  }
}

TEST(dsa_status, odd_faults_switch_it_off_when_they_are_many) {
  DsaRig rig({}, {.faults_most = 3});
  const Pages source(1, 1), destination(1);
  for (std::uint64_t i = 0; i < 3; i++) rig.device.script().inject[i] = i == 1 ? 0x84 : 0x1a;
  for (std::size_t i = 0; i < 3; i++) {
    EXPECT_STREQ(rig.engine->disabled_reason(), "");
    EXPECT_EQ(rig.engine->submit({source.data(), destination.data() + i * 10, 10}).answer, Answer::accepted);
    EXPECT_TRUE(rig.engine->drain(kNever));
  }
  EXPECT_STRNE(rig.engine->disabled_reason(), "");
  EXPECT_EQ(rig.count(Counter::cpu_fault), 3U);
  EXPECT_EQ(rig.count(Counter::faults_write), 1U);
}

TEST(dsa_status, error_leaves_pieces_in_flight_and_copies_what_waits) {
  EmulatedScript script;
  script.completion = EmulatedScript::Completion::in_order;
  script.queue_depth = 2;
  script.inject[0] = 0x20;
  DsaRig rig(script, {.max_transfer = 1000});
  const Pages source(2, 1), destination(2);
  for (std::size_t i = 0; i < 4; i++)
    rig.engine->submit({source.data() + i * 2000, destination.data() + i * 2000, 2000});
  EXPECT_TRUE(rig.engine->drain(kNever));
  EXPECT_TRUE(same_bytes(source.data(), destination.data(), 8000));
  EXPECT_EQ(rig.count(Counter::cpu_error), 1U);
  EXPECT_EQ(rig.count(Counter::cpu_stopped), 3U) << "two never began, one was half done";
  EXPECT_EQ(rig.moves(), 2U);
  EXPECT_EQ(rig.device.pending(), 0U);
}

}  // namespace
}  // namespace omx::copy
