// SPDX-License-Identifier: BSD-3-Clause
// Attacks by which a user wants to receive what is not for him.
#include <gmock/gmock.h>
#include <linux/if_packet.h>
#include <sys/mman.h>
#include <sys/socket.h>

#include "base/bytes.h"
#include "link/packet/packet_ring.h"
#include "netdev/bpf_call.h"
#include "sealed_fixture.h"
#include "tools/broker/kernel/ebpf_load.h"

namespace omx::broker {
namespace {

using testing::ElementsAre;
using Types = std::vector<unsigned>;

constexpr unsigned kLastType = 40;

class attack_receive : public SealedTest {
 protected:
  // Waits until a frame that came behind all others is there, and returns the types of those before it.
  Types received(const Sealed& sealed, std::uint32_t word) {
    sealed.words->data = static_cast<std::uint32_t>(ClassWord::all);
    peer_send(frame_to(sealed.endpoint, kLastType));
    Types types;
    EXPECT_TRUE(link::becomes_true([&] {
      for (const unsigned type : types_in(sealed.data)) types.push_back(type);
      return !types.empty() && types.back() == kLastType;
    }));
    sealed.words->data = word;
    if (!types.empty()) types.pop_back();
    return types;
  }
};

TEST_F(attack_receive, frames_for_others_whatever_the_class) {
  const Sealed sealed = open(kEndpoint);
  for (std::uint32_t word = 0; word < 7; word++) {
    sealed.words->data = word;
    for (unsigned type = 0; type < 256; type++)
      for (const unsigned other : {8U, 10U, 137U})
        peer_send(frame_to(static_cast<std::uint8_t>(other), type, 1));
    for (const unsigned type : {1U, 3U, 4U}) peer_send(frame_to(kEndpoint, type));
    EXPECT_EQ(received(sealed, word), Types{}) << "class " << word;
  }
}

TEST_F(attack_receive, other_protocols_and_addresses) {
  const Sealed sealed = open(kEndpoint);
  for (const unsigned ethertype : {0x0800U, 0x86DDU, 0x88CCU}) {
    Bytes frame = frame_to(kEndpoint, 39);
    store_be16(&frame[12], static_cast<std::uint16_t>(ethertype));
    peer_send(frame);
  }
  Bytes to_nic = frame_to(kEndpoint, 39), to_other = to_nic;
  mac_store(&to_nic[0], link::nic_of("v0"));
  mac_store(&to_other[0], 0x020000000001);
  peer_send(to_nic);
  peer_send(to_other);
  EXPECT_EQ(received(sealed, 1), Types{});
}

TEST_F(attack_receive, none__the_word_chooses_what_is_his) {
  const Sealed sealed = open(kEndpoint);
  const auto seen = [&](ClassWord word) {
    as_user([&] { sealed.words->data = static_cast<std::uint32_t>(word); });  // shared memory
    for (const unsigned type : {35U, 36U, 37U, 39U, 41U, 42U, 43U, 44U, 45U, 64U, 65U})
      peer_send(frame_to(kEndpoint, type));
    for (const unsigned type : {39U, 42U}) peer_send(frame_to(kEndpoint, type, 1));
    return received(sealed, 0);
  };
  EXPECT_EQ(seen(ClassWord::none), Types{});
  EXPECT_THAT(seen(ClassWord::all), ElementsAre(35, 36, 37, 39, 41, 42, 43, 44, 45, 64, 65, 39, 42));
  EXPECT_THAT(seen(ClassWord::eager), ElementsAre(35, 36, 37, 39, 41, 43, 44, 45, 64, 65, 39));
  EXPECT_THAT(seen(ClassWord::bulk), ElementsAre(42, 42));
  EXPECT_THAT(seen(ClassWord::solicited), ElementsAre(36, 37, 41, 43, 44, 45, 64, 65, 39, 42));
}

TEST_F(attack_receive, after_revocation) {
  const Sealed sealed = open(kEndpoint), other = open(10);
  peer_send(frame_to(kEndpoint, 39));
  EXPECT_EQ(received(sealed, 1), Types{39});
  EXPECT_EQ(types_in(sealed.wakeup), Types{kLastType});
  ASSERT_EQ(grant_clear(maps_, sealed.slot), 0);
  for (const unsigned type : kEndpointTypes) peer_send(frame_to(kEndpoint, type, 1));
  EXPECT_EQ(received(other, 1), Types{}) << "waits until they were there";
  EXPECT_EQ(types_in(sealed.data), Types{});
  EXPECT_EQ(types_in(sealed.wakeup), Types{});
}

// The user maps one page, which holds the words of the endpoint. The map itself can only be written the same
// way.
TEST_F(attack_receive, by_the_map_of_classes) {
  const Sealed sealed = open(kEndpoint);
  as_user([&] {
    EXPECT_EQ(::mmap(nullptr, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, sealed.classes.get(), 0), MAP_FAILED);
    EXPECT_EQ(::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, sealed.classes.get(), 4096),
              MAP_FAILED);
    EXPECT_EQ(::mmap(nullptr, 4096, PROT_READ | PROT_EXEC, MAP_SHARED, sealed.classes.get(), 0), MAP_FAILED);
    const Classes all{1, 1, 1};
    EXPECT_NE(ebpf_array_write(sealed.classes.get(), 1, &all), 0) << "there is one entry";
    EXPECT_FALSE(link::bpf_by_id(BPF_MAP_GET_FD_BY_ID, 1).open());
    EXPECT_FALSE(link::bpf_by_id(BPF_PROG_GET_FD_BY_ID, 1).open());
  });
  peer_send(frame_to(10, 39));
  EXPECT_EQ(received(sealed, 1), Types{});
}

// A ring that the broker made, and the user maps.
TEST_F(attack_receive, none__the_ring_of_the_broker_works) {
  const link::RingGeometry geometry = link::ring_geometry(1500, 64, 1 << 20);
  const Sealed sealed = open(kEndpoint, {.ring = geometry});
  peer_send(frame_to(10, 39));
  peer_send(frame_to(kEndpoint, 39));
  as_user([&] {
    link::PacketRing ring;
    ASSERT_EQ(ring.attach(sealed.data.get(), geometry), 0);
    ASSERT_TRUE(link::becomes_true([&] { return ring.front() != nullptr; }));
    const auto frame = ring.seen(ring.front()).frame;
    EXPECT_EQ(Bytes(frame.begin(), frame.end()), frame_to(kEndpoint, 39));
    ring.advance();
    EXPECT_EQ(ring.front(), nullptr);
    EXPECT_EQ(send_frame(sealed.data, last_from(kEndpoint)), 0);
  });
  EXPECT_TRUE(arrived(kEndpoint).empty());
}

}  // namespace
}  // namespace omx::broker
