// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <cstring>

#include "base/random.h"
#include "runtime/endpoint/address.h"

namespace omx::runtime {
namespace {

void expect_round_trip(const AddressParts& parts) {
  const AddressParts back = address_unpack(address_pack(parts));
  EXPECT_EQ(back.nic, parts.nic);
  EXPECT_EQ(back.endpoint, parts.endpoint);
  EXPECT_EQ(back.session, parts.session);
  EXPECT_EQ(back.slot, parts.slot);
  EXPECT_EQ(back.peer, parts.peer);
  EXPECT_EQ(back.conversation, parts.conversation);
}

TEST(address, round_trip) {
  expect_round_trip({});
  expect_round_trip({0xffffffffffff, 255, 0xffffffff, 0xfff, 0xfffff, 255});
  expect_round_trip({0x0060dd47c475, 3, 0x5a17c0de, 0x100, 1, 7});
  Random random(1);
  for (int i = 0; i < 1000; i++) {
    expect_round_trip({random.below(1ULL << 48), static_cast<std::uint8_t>(random.below(256)),
                       static_cast<std::uint32_t>(random.next()),
                       static_cast<std::uint32_t>(random.below(1 << 12)),
                       static_cast<std::uint32_t>(random.below(1 << 20)),
                       static_cast<std::uint32_t>(random.below(kConversations))});
  }
}

// MX programs find the session there (docs/spec/mx-api.md 2).
TEST(address, session_in_the_last_four_bytes) {
  const Address address = address_pack({1, 2, 0x5a17c0de, 3, 4});
  std::uint32_t session = 0;
  std::memcpy(&session, reinterpret_cast<const char*>(&address) + 12, sizeof session);
  EXPECT_EQ(session, 0x5a17c0deU);
  EXPECT_EQ(sizeof address, 16U);
}

}  // namespace
}  // namespace omx::runtime
