// SPDX-License-Identifier: BSD-3-Clause
#include "link/packet/packet_ring.h"

#include <gtest/gtest.h>
#include <unistd.h>

namespace omx::link {
namespace {

constexpr std::uint32_t kMebi = 1U << 20;

TEST(ring_geometry, slots__hold_a_whole_frame) {
  for (std::uint32_t mtu : {68U, 1500U, 3500U, 9000U, 16110U, 65535U, 65536U}) {
    const RingGeometry g = ring_geometry(mtu, 1024, 32 * kMebi);
    EXPECT_GE(g.slot_bytes, 66 + 14 + mtu) << mtu;
    EXPECT_EQ(g.slot_bytes % 64, 0U) << mtu;
  }
}

TEST(ring_geometry, blocks__what_the_kernel_accepts) {
  // The pages of this machine, and all that arm64 may have.
  const auto own_page = static_cast<std::uint32_t>(::sysconf(_SC_PAGESIZE));
  for (std::uint32_t mtu = 68; mtu <= 65536; mtu += 131) {
    const RingGeometry g = ring_geometry(mtu, 1000, 16 * kMebi);
    for (const std::uint32_t page : {own_page, 4096U, 16384U, 65536U}) EXPECT_EQ(g.block_bytes % page, 0U);
    EXPECT_EQ(g.slots_per_block, g.block_bytes / g.slot_bytes);
    EXPECT_GT(g.slots_per_block, 0U);
    // At most an eighth is lost at the end of blocks.
    EXPECT_GE(std::uint64_t{g.slots()} * g.slot_bytes * 8, g.bytes() * 7) << mtu;
  }
}

TEST(ring_geometry, limits__bytes_and_at_least_64_slots) {
  EXPECT_GE(ring_geometry(1500, 1024, 32 * kMebi).slots(), 1024U);
  EXPECT_LE(ring_geometry(65535, 4096, 32 * kMebi).bytes(), 32 * kMebi);
  EXPECT_GE(ring_geometry(65535, 1, 0).slots(), kRingMinSlots);
  EXPECT_LE(ring_geometry(65535, 1, 0).bytes(), 6 * kMebi);
  EXPECT_GE(ring_geometry(1500, 1, 0).slots(), kRingMinSlots);
  EXPECT_LE(ring_geometry(1500, 1, 0).bytes(), kMebi / 4);
}

}  // namespace
}  // namespace omx::link
