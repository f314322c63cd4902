// SPDX-License-Identifier: BSD-3-Clause
// Test 3 of docs/spec/copy-offload.md 11, and pieces around the transfer limit (test 2).
#include "tests/support/dsa_rig.h"

namespace omx::copy {
namespace {

constexpr std::size_t kPage = EmulatedDevice::kPage;
constexpr std::size_t kPages = 5;

// Copies five pages and a bit, with absent pages as each test sets them.
struct FaultCase {
  explicit FaultCase(const EmulatedScript& script = {})
      : rig(script), source(kPages + 2, 1), destination(kPages + 2) {}

  const std::byte* from() const { return source.data() + kPage - 100; }
  std::byte* to() const { return destination.data() + kPage - 300; }
  // Submits a resident piece, so the engine does not touch the pages first.
  void run() {
    const Submission s = rig.engine->submit({from(), to(), kBytes, true});
    ASSERT_EQ(s.answer, Answer::accepted);
    EXPECT_TRUE(rig.engine->drain(kNever));
    EXPECT_FALSE(rig.engine->failed(s.ticket));
    EXPECT_TRUE(same_bytes(from(), to(), kBytes));
    EXPECT_EQ(to()[-1], std::byte{0});
    EXPECT_EQ(to()[kBytes], std::byte{0});
    EXPECT_EQ(rig.device.violations(), 0U);
    EXPECT_STREQ(rig.engine->disabled_reason(), "");
    EXPECT_EQ(rig.device.pending(), 0U);
  }

  static constexpr std::size_t kBytes = kPages * kPage;
  DsaRig rig;
  Pages source, destination;
};

TEST(dsa_faults, on_each_page_read_and_write_in_both_directions) {
  for (const bool backward : {false, true}) {
    EmulatedScript script;
    script.backward = backward;
    for (std::size_t page = 0; page <= kPages; page++) {
      SCOPED_TRACE(page);
      FaultCase read(script);
      read.rig.device.page_absent(read.source.data() + page * kPage);
      read.run();
      EXPECT_EQ(read.rig.count(Counter::faults_read), 1U);
      EXPECT_EQ(read.rig.count(Counter::faults_write), 0U);
      EXPECT_EQ(read.rig.count(Counter::resubmissions), 1U);
      EXPECT_EQ(read.rig.count(Counter::cpu_bytes), 0U);

      FaultCase write(script);
      write.rig.device.page_absent(write.destination.data() + page * kPage);
      write.run();
      EXPECT_EQ(write.rig.count(Counter::faults_read), 0U);
      EXPECT_EQ(write.rig.count(Counter::faults_write), 1U);
      EXPECT_EQ(write.rig.count(Counter::resubmissions), 1U);
    }
  }
}

TEST(dsa_faults, on_all_pages_cost_one_resubmission) {
  FaultCase all;
  for (std::size_t page = 0; page < kPages + 2; page++) {
    all.rig.device.page_absent(all.source.data() + page * kPage);
    all.rig.device.page_absent(all.destination.data() + page * kPage);
  }
  all.run();
  EXPECT_EQ(all.rig.count(Counter::resubmissions), 1U);
  EXPECT_EQ(all.rig.moves(), 2U);
  EXPECT_EQ(all.rig.device.seen()[1].bytes, FaultCase::kBytes) << "the first byte was absent";
}

TEST(dsa_faults, with_pages_of_other_sizes) {
  for (const std::size_t page : {std::size_t{16384}, std::size_t{65536}}) {
    SCOPED_TRACE(page);
    const std::size_t bytes = 3 * page;
    Pages source(4 * page / kPage, 1), destination(4 * page / kPage);
    EmulatedScript script;
    script.page_bytes = page;
    script.transfer_limit = static_cast<std::uint32_t>(bytes);
    DsaRig rig(script);
    // One page comes by being touched. The other one stays absent, so the engine sees it twice and gives up.
    rig.device.page_absent(source.data() + page);
    const std::byte* const stays = source.data() + 2 * page;
    for (const bool lasts : {false, true}) {
      if (lasts) rig.device.page_absent(stays, true);
      const Submission s = rig.engine->submit({source.data() + 100, destination.data() + 300, bytes, true});
      ASSERT_EQ(s.answer, Answer::accepted);
      EXPECT_TRUE(rig.engine->drain(kNever));
      EXPECT_TRUE(same_bytes(source.data() + 100, destination.data() + 300, bytes));
      EXPECT_EQ(rig.count(Counter::resubmissions), lasts ? 2U : 1U);
      EXPECT_EQ(rig.count(Counter::cpu_fault), lasts ? 1U : 0U);
    }
  }
}

TEST(dsa_faults, keep_what_was_copied) {
  FaultCase forward;
  forward.rig.device.page_absent(forward.from() + 100 + kPage);
  forward.run();
  ASSERT_EQ(forward.rig.moves(), 2U);
  EXPECT_EQ(forward.rig.device.seen()[1].bytes, FaultCase::kBytes - 100 - kPage);
  EXPECT_EQ(forward.rig.device.seen()[1].source,
            reinterpret_cast<std::uintptr_t>(forward.from() + 100 + kPage));

  EmulatedScript script;
  script.backward = true;
  FaultCase backward(script);
  backward.rig.device.page_absent(backward.from() + 100 + kPage);
  backward.run();
  ASSERT_EQ(backward.rig.moves(), 2U);
  EXPECT_EQ(backward.rig.device.seen()[1].bytes, 100 + 2 * kPage);
  EXPECT_EQ(backward.rig.device.seen()[1].source, reinterpret_cast<std::uintptr_t>(backward.from()));
}

TEST(dsa_faults, are_avoided_by_touching_first) {
  FaultCase untouched;
  for (std::size_t page = 0; page < kPages + 2; page++) {
    untouched.rig.device.page_absent(untouched.source.data() + page * kPage);
    untouched.rig.device.page_absent(untouched.destination.data() + page * kPage);
  }
  untouched.rig.engine->submit({untouched.from(), untouched.to(), FaultCase::kBytes});
  EXPECT_TRUE(untouched.rig.engine->drain(kNever));
  EXPECT_EQ(untouched.rig.count(Counter::faults_read) + untouched.rig.count(Counter::faults_write), 0U);
}

TEST(dsa_faults, twice_on_one_page_go_to_the_cpu) {
  FaultCase stubborn;
  stubborn.rig.device.page_absent(stubborn.source.data() + 3 * kPage, true);
  stubborn.run();
  EXPECT_EQ(stubborn.rig.count(Counter::faults_read), 2U);
  EXPECT_EQ(stubborn.rig.count(Counter::resubmissions), 1U);
  EXPECT_EQ(stubborn.rig.count(Counter::cpu_fault), 1U);
  EXPECT_EQ(stubborn.rig.count(Counter::cpu_bytes), FaultCase::kBytes - 100 - 2 * kPage);
}

// Pages that become absent again while others are repaired.
class Fickle final : public EmulatedSurroundings {
 public:
  explicit Fickle(EmulatedDevice& device) : EmulatedSurroundings(device), device_(device) {}
  void touch(const std::byte* at, std::size_t bytes, bool write) override {
    EmulatedSurroundings::touch(at, bytes, write);
    if (!write && !absent_.empty()) {
      device_.page_absent(absent_.back());
      absent_.pop_back();
    }
  }
  void then_absent(const void* at) { absent_.insert(absent_.begin(), at); }

 private:
  EmulatedDevice& device_;
  std::vector<const void*> absent_;
};

TEST(dsa_faults, source_and_destination_in_turn_end_after_two_resubmissions) {
  EmulatedDevice device(EmulatedScript{});
  Fickle surroundings(device);
  auto engine = std::move(*DsaEngine::create(std::make_unique<EmulatedPortal>(device), {}, surroundings));
  const Pages source(4, 1), destination(4);
  device.page_absent(source.data());
  surroundings.then_absent(source.data() + kPage);
  surroundings.then_absent(source.data() + 2 * kPage);
  engine->submit({source.data(), destination.data(), 4 * kPage, true});
  EXPECT_TRUE(engine->drain(kNever));
  EXPECT_TRUE(same_bytes(source.data(), destination.data(), 4 * kPage));
  EXPECT_EQ(engine->counters().get(Counter::resubmissions), 2U);
  EXPECT_EQ(engine->counters().get(Counter::cpu_fault), 1U);
  EXPECT_EQ(engine->counters().get(Counter::cpu_bytes), 2 * kPage);
  EXPECT_STREQ(engine->disabled_reason(), "");
}

TEST(dsa_faults, without_progress_are_tried_again) {
  DsaRig rig({});
  rig.device.script().inject[0] = 0x03;  // the record says 0 bytes, at address 0
  const Pages source(1, 1), destination(1);
  rig.engine->submit({source.data(), destination.data(), 4000});
  EXPECT_TRUE(rig.engine->drain(kNever));
  EXPECT_TRUE(same_bytes(source.data(), destination.data(), 4000));
  EXPECT_EQ(rig.count(Counter::resubmissions), 1U);
}

TEST(dsa_transfer_limit, splits_pieces) {
  constexpr std::uint32_t kLimit = 5000;
  EmulatedScript script;
  script.transfer_limit = kLimit;
  const Pages source(8, 1);
  for (const std::size_t bytes : {4999, 5000, 5001, 9999, 10000, 10001, 30000}) {
    SCOPED_TRACE(bytes);
    DsaRig rig(script, {.max_transfer = kLimit});
    const Pages destination(8);
    rig.engine->submit({source.data() + 1, destination.data() + 2, bytes});
    EXPECT_TRUE(rig.engine->drain(kNever));
    EXPECT_TRUE(same_bytes(source.data() + 1, destination.data() + 2, bytes));
    EXPECT_EQ(destination.data()[2 + bytes], std::byte{0});
    EXPECT_EQ(rig.moves(), (bytes + kLimit - 1) / kLimit);
    EXPECT_EQ(rig.device.violations(), 0U);
    EXPECT_EQ(rig.count(Counter::cpu_bytes), 0U);
  }
}

}  // namespace
}  // namespace omx::copy
