// SPDX-License-Identifier: BSD-3-Clause
#include "tools/cluster/probe_frame.h"

#include <gtest/gtest.h>

#include <vector>

namespace omx::tools {

namespace {

std::vector<std::byte> frame_of(std::size_t bytes) {
  std::vector<std::byte> frame(bytes);
  probe_encode({.to = 0x024f4d580002,
                .from = 0x024f4d580001,
                .to_endpoint = 7,
                .from_endpoint = 9,
                .kind = ProbeKind::data_answered,
                .is_reply = true,
                .token = 0x12345678,
                .number = 4711},
               frame);
  return frame;
}

TEST(probe_frame, comes_back_as_it_was) {
  for (const std::size_t bytes : {60U, 61U, 1514U, 9014U}) {
    ProbeFrame probe;
    ASSERT_EQ(probe_decode(frame_of(bytes), probe), ProbeDrop::none);
    EXPECT_EQ(probe.to, 0x024f4d580002U);
    EXPECT_EQ(probe.from, 0x024f4d580001U);
    EXPECT_EQ(probe.to_endpoint, 7);
    EXPECT_EQ(probe.from_endpoint, 9);
    EXPECT_EQ(probe.kind, ProbeKind::data_answered);
    EXPECT_TRUE(probe.is_reply);
    EXPECT_EQ(probe.token, 0x12345678U);
    EXPECT_EQ(probe.number, 4711U);
  }
}

TEST(probe_frame, shows_every_flipped_bit) {
  const auto whole = frame_of(100);
  for (std::size_t at = wire::kEthernetHeader; at < whole.size(); at++) {
    for (int bit = 0; bit < 8; bit++) {
      auto frame = whole;
      frame[at] ^= static_cast<std::byte>(1 << bit);
      ProbeFrame probe;
      EXPECT_NE(probe_decode(frame, probe), ProbeDrop::none) << "byte " << at << " bit " << bit;
    }
  }
}

TEST(probe_frame, is_damaged_when_cut_and_foreign_without_its_mark) {
  auto frame = frame_of(100);
  ProbeFrame probe;
  EXPECT_EQ(probe_decode(wire::Frame(frame).first(80), probe), ProbeDrop::damaged);
  frame[90] ^= std::byte{1};
  EXPECT_EQ(probe_decode(frame, probe), ProbeDrop::damaged);
  frame[48] ^= std::byte{1};
  EXPECT_EQ(probe_decode(frame, probe), ProbeDrop::foreign);
  frame[16] = std::byte{38};
  EXPECT_EQ(probe_decode(frame, probe), ProbeDrop::foreign);
}

}  // namespace

}  // namespace omx::tools
