// SPDX-License-Identifier: BSD-3-Clause
#include "copy/policy.h"

#include <gtest/gtest.h>

#include "copy/calibration.h"
#include "copy/cpu_engine.h"
#include "copy/thread_engine.h"
#include "tests/support/dsa_rig.h"

namespace omx::copy {
namespace {

TEST(policy, offloads_large_pieces_of_large_messages_only) {
  const Policy policy;
  const Capabilities device{.name = "x", .asynchronous = true, .least_piece = 4096, .most_outstanding = 32};
  EXPECT_TRUE(offload_worth(policy, device, 65536, 4096));
  EXPECT_FALSE(offload_worth(policy, device, 65535, 4096));
  EXPECT_FALSE(offload_worth(policy, device, 65536, 4095));
  EXPECT_TRUE(offload_worth({.min_piece = 1024}, device, 65536, 1024));
  EXPECT_FALSE(offload_worth({.min_piece = 8192}, device, 65536, 4096));
  EXPECT_FALSE(wait_worth(policy, device, 65536, 4096));
  EXPECT_TRUE(wait_worth({.min_waited = 65536}, device, 65536, 4096));
  EXPECT_FALSE(offload_worth(policy, CpuEngine().capabilities(), 1 << 30, 1 << 20));
}

TEST(policy, shares_a_queue) {
  EXPECT_EQ(outstanding_most(16, 1), 15U) << "one entry for a drain";
  EXPECT_EQ(outstanding_most(16, 4), 3U);
  EXPECT_EQ(outstanding_most(128, 1), 32U);
  EXPECT_EQ(outstanding_most(1, 1), 1U);
  EXPECT_EQ(outstanding_most(8, 100), 1U);
  EXPECT_EQ(outstanding_most(8, 0), 7U);
  EXPECT_EQ(slots_held_most(1024), 256U);
  EXPECT_EQ(slots_held_most(3), 0U);
}

TEST(copy_wait, shares_the_work_at_a_line) {
  DsaRig rig({});
  const Pages source(8, 1), destination(8);
  for (const std::size_t bytes : {0, 1, 63, 64, 1000, 4096, 30000}) {
    const std::uint64_t before = rig.count(Counter::bytes);
    EXPECT_TRUE(copy_wait(*rig.engine, {}, {source.data() + 5, destination.data() + 7, bytes}));
    EXPECT_TRUE(same_bytes(source.data() + 5, destination.data() + 7, bytes));
    const std::uint64_t device = rig.count(Counter::bytes) - before;
    EXPECT_LE(bytes - device, bytes / 5);
    if (device < bytes) {
      EXPECT_EQ((7 + bytes - device) % 64, 0U);
    }
    EXPECT_EQ(bytes >= 1000, device < bytes);
  }
  EXPECT_TRUE(copy_wait(*rig.engine, {.cpu_share = 0}, {source.data(), destination.data(), 30000}));
  EXPECT_TRUE(same_bytes(source.data(), destination.data(), 30000));
}

TEST(copy_wait, copies_itself_when_the_engine_does_not) {
  EmulatedScript script;
  script.error_after = 0;
  DsaRig rig(script);
  const Pages source(8, 1), destination(8);
  EXPECT_TRUE(copy_wait(*rig.engine, {}, {source.data(), destination.data(), 30000}));
  EXPECT_TRUE(copy_wait(*rig.engine, {}, {source.data() + 1, destination.data() + 1, 30000}));
  EXPECT_TRUE(same_bytes(source.data(), destination.data(), 30001));
}

TEST(copy_wait, tells_of_lost_completions) {
  EmulatedScript script;
  script.completion = EmulatedScript::Completion::never;
  DsaRig rig(script);
  const Pages source(1, 1), destination(1);
  EXPECT_FALSE(copy_wait(*rig.engine, {}, {source.data(), destination.data(), 4000}));
}

// Measured costs of the four sizes, of an engine that needs `share` hundredths of the processor's time.
Calibration measured(TimeNs submit_ns, TimeNs share) {
  Calibration found;
  for (std::size_t i = 0; i < found.rows.size(); i++) {
    found.rows[i].bytes = 1024U << i;
    found.rows[i].memcpy_out_ns = 100 << i;
    found.rows[i].submit_ns = submit_ns;
    found.rows[i].engine_ns = (share << i);
  }
  found.judge();
  return found;
}

TEST(calibration, takes_sizes_that_are_cheap_to_submit) {
  EXPECT_EQ(measured(50, 100).least_piece, 1024U);
  EXPECT_EQ(measured(300, 100).least_piece, 4096U);
  EXPECT_EQ(measured(800, 100).least_piece, ~0U);
  EXPECT_FALSE(measured(800, 1000).too_slow) << "it is submitting that costs too much";
}

TEST(calibration, refuses_an_engine_that_is_slower_than_the_processor) {
  EXPECT_EQ(measured(50, 125).least_piece, 1024U) << "as fast, but for what measurements differ by";
  EXPECT_EQ(measured(50, 126).least_piece, ~0U);
  EXPECT_TRUE(measured(50, 126).too_slow);
  Calibration small_slow = measured(50, 100);
  small_slow.rows[1].engine_ns = 2000;
  small_slow.judge();
  EXPECT_EQ(small_slow.least_piece, 4096U);
  EXPECT_FALSE(small_slow.too_slow);
}

TEST(calibrate, finds_some_size_or_none) {
  CpuEngine cpu;
  EXPECT_EQ(calibrate(cpu).least_piece, ~0U);
  auto thread = std::move(*ThreadEngine::create({}));
  const Calibration found = calibrate(*thread);
  EXPECT_EQ(thread->outstanding(), 0U);
  std::uint32_t before = 0;
  for (const Calibration::Row& row : found.rows) {
    EXPECT_GT(row.bytes, before);
    before = row.bytes;
    EXPECT_GT(row.memcpy_in_ns, 0U);
    EXPECT_GT(row.memcpy_out_ns, 0U);
    EXPECT_GT(row.submit_ns, 0U);
    EXPECT_GT(row.engine_ns, 0U);
    EXPECT_GT(row.place_ns, 0U);
  }
  EXPECT_EQ(found.row_for(1).bytes, found.rows[0].bytes);
  EXPECT_EQ(found.row_for(8191).bytes, 4096U);
  EXPECT_EQ(found.row_for(1 << 20).bytes, 32768U);
  EXPECT_TRUE(found.least_piece == ~0U || found.least_piece >= found.rows[0].bytes);
}

}  // namespace
}  // namespace omx::copy
