// SPDX-License-Identifier: BSD-3-Clause
// Test 12 of docs/spec/copy-offload.md 11: a real accelerator, if this user may use one.
#include <gtest/gtest.h>

#include <algorithm>
#include <iostream>
#include <vector>

#include "base/random.h"
#include "copy/engines.h"

namespace omx::copy {
namespace {

TEST(hardware, copies) {
  auto engine = engine_create(EngineKind::dsa);
  ASSERT_TRUE(engine) << engine.error().message;
  std::vector<std::byte> source(1 << 20), destination(1 << 20);
  random_fill(source, 1);
  for (const std::size_t piece : {1500UL, 4096UL, 65536UL}) {
    std::fill(destination.begin(), destination.end(), std::byte{0});
    for (std::size_t at = 0; at < source.size(); at += piece) {
      const Piece part{source.data() + at, destination.data() + at, std::min(piece, source.size() - at)};
      while ((*engine)->submit(part).answer == Answer::busy) (*engine)->poll(32);
    }
    EXPECT_TRUE((*engine)->drain(kNever));
    EXPECT_EQ(source, destination);
    EXPECT_STREQ((*engine)->disabled_reason(), "");
  }
  for (std::size_t i = 0; i < static_cast<std::size_t>(Counter::count); i++)
    std::cout << kCounterNames[i] << ": " << (*engine)->counters().values[i] << "\n";
}

}  // namespace
}  // namespace omx::copy

int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  const auto engine = omx::copy::engine_create(omx::copy::EngineKind::dsa);
  if (engine) return RUN_ALL_TESTS();
  std::cout << "skipped: " << engine.error().message << "\n";
  return 77;
}
