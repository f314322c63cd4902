// SPDX-License-Identifier: BSD-3-Clause
// Attacks by what a user sends. Each test looks at the other end of the cable, where only what the user may
// send gets out, and at the counters.
#include <arpa/inet.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <sys/socket.h>

#include <set>

#include "base/bytes.h"
#include "link/packet/packet_socket.h"
#include "sealed_fixture.h"

namespace omx::broker {
namespace {

class attack_send : public SealedTest, public testing::WithParamInterface<Place> {
 protected:
  attack_send() { place_ = GetParam(); }
};

INSTANTIATE_TEST_SUITE_P(place, attack_send, testing::Values(Place::macvlan, Place::nic),
                         [](const auto& place) {
                           return std::string(place.param == Place::nic ? "nic" : "macvlan");
                         });

TEST_P(attack_send, none__his_own_frames_get_out) {
  const Sealed sealed = open(kEndpoint);
  std::vector<Bytes> frames;
  std::uint64_t bytes = last_from(kEndpoint).size();
  for (const unsigned type : kEndpointTypes)
    for (const std::size_t size : {32U, 60U, 200U, 1514U}) {
      frames.push_back(frame_from(kEndpoint, type, size));
      bytes += size;
    }
  as_user([&] {
    for (const Bytes& frame : frames) EXPECT_EQ(send_frame(sealed.data, frame), 0);
    EXPECT_EQ(send_frame(sealed.data, last_from(kEndpoint)), 0);
  });
  EXPECT_TRUE(arrived(kEndpoint) == frames);
  GrantCounters expected;
  expected.frames = frames.size() + 1;
  expected.bytes = bytes;
  EXPECT_EQ(counters(sealed), expected);
}

TEST_P(attack_send, other_ethertypes) {
  const Sealed sealed = open(kEndpoint);
  std::vector<Bytes> frames;
  for (const unsigned ethertype :
       {0x0800U, 0x0806U, 0x86DDU, 0x8100U, 0x88A8U, 0x88CCU, 0x86DEU, 0x87DFU, 60U, 0U}) {
    frames.push_back(frame_from(kEndpoint, 39));
    store_be16(&frames.back()[12], static_cast<std::uint16_t>(ethertype));
  }
  // A frame with a VLAN tag, and ours behind it.
  Bytes tagged = frame_from(kEndpoint, 39);
  const Bytes tag = {std::byte{0x81}, std::byte{0}, std::byte{0}, std::byte{5}};
  tagged.insert(tagged.begin() + 12, tag.begin(), tag.end());
  frames.push_back(tagged);
  attack_by(sealed, frames);
  EXPECT_TRUE(arrived(kEndpoint).empty());
  EXPECT_EQ(counters(sealed).bad_type, frames.size());
  EXPECT_EQ(counters(sealed).frames, 1U);
}

// The protocol of the address counts for what the kernel does with a frame, and its bytes for the peer.
TEST_P(attack_send, other_protocol_in_the_address) {
  const Sealed sealed = open(kEndpoint);
  const Bytes frame = frame_from(kEndpoint, 39);
  constexpr unsigned kProtocols[] = {0x0800, 0x8100, 0x86DD, 1};
  as_user([&] {
    for (const unsigned protocol : kProtocols) {
      sockaddr_ll to{};
      to.sll_family = AF_PACKET;
      to.sll_protocol = htons(static_cast<std::uint16_t>(protocol));
      to.sll_ifindex = static_cast<int>(macvlan_.ifindex);
      ::sendto(sealed.data.get(), frame.data(), frame.size(), 0, reinterpret_cast<const sockaddr*>(&to),
               sizeof to);
    }
    EXPECT_EQ(send_frame(sealed.data, last_from(kEndpoint)), 0);
  });
  EXPECT_TRUE(arrived(kEndpoint).empty());
  EXPECT_EQ(counters(sealed).bad_type, std::size(kProtocols));
}

TEST_P(attack_send, spoofed_source_address) {
  const Sealed sealed = open(kEndpoint);
  std::vector<Bytes> frames;
  for (std::size_t octet = 0; octet < 6; octet++)
    for (const unsigned bit : {0x01U, 0x80U}) {
      frames.push_back(frame_from(kEndpoint, 39));
      frames.back()[6 + octet] ^= static_cast<std::byte>(bit);
    }
  for (const NicId source : {link::nic_of("v0"), link::nic_of("v1"), NicId{0}, kBroadcastNic}) {
    frames.push_back(frame_from(kEndpoint, 39));
    mac_store(&frames.back()[6], source);
  }
  attack_by(sealed, frames);
  EXPECT_TRUE(arrived(kEndpoint).empty());
  EXPECT_EQ(counters(sealed).bad_source, frames.size());
}

// Every other place has the right endpoint, as well as any other.
TEST_P(attack_send, spoofed_source_endpoint_in_every_type) {
  const Sealed sealed = open(kEndpoint), victim = open(10);
  std::vector<Bytes> frames;
  for (const unsigned type : kEndpointTypes)
    for (const std::uint8_t claimed :
         {std::uint8_t{10}, std::uint8_t{kEndpoint ^ 0x80}, std::uint8_t{0}, std::uint8_t{255}})
      for (const std::uint8_t elsewhere : {kEndpoint, claimed}) {
        Bytes frame = frame_from(kEndpoint, type);
        for (const std::size_t at : {14U, 15U, 17U, 18U, 19U, 20U, 25U}) frame[at] = std::byte{elsewhere};
        set_source(frame, type, claimed);
        frames.push_back(frame);
      }
  attack_by(sealed, frames);
  EXPECT_TRUE(arrived(kEndpoint).empty());
  EXPECT_EQ(counters(sealed).bad_endpoint, frames.size());
  EXPECT_EQ(counters(sealed).frames, 1U);
  EXPECT_EQ(counters(victim), GrantCounters{});
}

TEST_P(attack_send, packets_of_the_board_and_unknown_ones) {
  const Sealed sealed = open(kEndpoint);
  const std::set<unsigned> allowed(std::begin(kEndpointTypes), std::end(kEndpointTypes));
  std::vector<Bytes> frames;
  for (unsigned type = 0; type < 256; type++) {
    if (allowed.contains(type)) continue;
    Bytes frame = frame_from(kEndpoint, type);
    for (const std::size_t at : {14U, 17U, 18U, 20U}) frame[at] = std::byte{kEndpoint};
    frames.push_back(frame);
  }
  attack_by(sealed, frames);
  EXPECT_TRUE(arrived(kEndpoint).empty());
  EXPECT_EQ(counters(sealed).bad_type, frames.size());
}

TEST_P(attack_send, long_frames) {
  const Sealed sealed = open(kEndpoint);
  Grant less = grant_of(sealed);
  less.max_frame = 1000;
  grant(sealed, less);
  as_user([&] {
    send_frame(sealed.data, frame_from(kEndpoint, 39, 1001));
    send_frame(sealed.data, frame_from(kEndpoint, 39, 1514));
    EXPECT_EQ(send_frame(sealed.data, frame_from(kEndpoint, 39, 1515)), EMSGSIZE);
    EXPECT_EQ(send_frame(sealed.data, frame_from(kEndpoint, 39, 60'000)), EMSGSIZE);
    EXPECT_EQ(send_frame(sealed.data, frame_from(kEndpoint, 39, 1000)), 0);
    EXPECT_EQ(send_frame(sealed.data, last_from(kEndpoint)), 0);
  });
  EXPECT_TRUE(arrived(kEndpoint) == (std::vector<Bytes>{frame_from(kEndpoint, 39, 1000)}));
  EXPECT_EQ(counters(sealed).bad_size, 2U);
  EXPECT_EQ(counters(sealed).frames, 2U);
}

// Most of a large frame lies in pages of its own, where the program must read it too.
TEST_P(attack_send, frames_in_pages) {
  ASSERT_NO_FATAL_FAILURE(set_mtu(9000));
  ASSERT_TRUE(macvlan_set_mtu(*network_, "v0", 9000));
  const Sealed sealed = open(kEndpoint);
  Grant more = grant_of(sealed);
  more.max_frame = 9014;
  grant(sealed, more);
  const Bytes good = frame_from(kEndpoint, 39, 9014);
  Bytes type = good, source = good, endpoint = good;
  type[13] = std::byte{0};
  source[11] ^= std::byte{1};
  endpoint[18] ^= std::byte{1};
  attack_by(sealed, {type, source, good, endpoint});
  EXPECT_TRUE(arrived(kEndpoint) == (std::vector<Bytes>{good}));
  GrantCounters expected{2, 9014 + last_from(kEndpoint).size(), 1, 1, 1, 0, 0, 0};
  EXPECT_EQ(counters(sealed), expected);
}

TEST_P(attack_send, short_frames) {
  const Sealed sealed = open(kEndpoint);
  std::vector<Bytes> frames, good;
  for (std::size_t size = 1; size <= 40; size++) {
    frames.push_back(frame_from(kEndpoint, 39, size));
    if (size >= 32) good.push_back(frames.back());
  }
  attack_by(sealed, frames);
  EXPECT_TRUE(arrived(kEndpoint) == good);
  EXPECT_EQ(counters(sealed).frames, good.size() + 1);
  EXPECT_EQ(counters(sealed).bad_size, 31U - 13U) << "the kernel itself refuses less than a header";
}

TEST_P(attack_send, past_the_queue_of_the_macvlan) {
  const Sealed sealed = open(kEndpoint, {.bypass_queue = true});
  Bytes type = frame_from(kEndpoint, 39), source = type, endpoint = type;
  type[12] = std::byte{8};
  source[11] ^= std::byte{1};
  endpoint[18] ^= std::byte{1};
  attack_by(sealed, {type, source, endpoint});
  EXPECT_TRUE(arrived(kEndpoint).empty());
  EXPECT_EQ(counters(sealed), (GrantCounters{1, last_from(kEndpoint).size(), 1, 1, 1, 0, 0, 0}));
}

TEST_P(attack_send, after_revocation) {
  const Sealed sealed = open(kEndpoint), other = open(10);
  ASSERT_EQ(grant_clear(maps_, sealed.slot), 0);
  as_user([&] {
    for (const unsigned type : kEndpointTypes) send_frame(sealed.data, frame_from(kEndpoint, type));
    EXPECT_EQ(send_frame(other.data, last_from(10)), 0);
  });
  EXPECT_TRUE(arrived(10).empty());
  EXPECT_EQ(counters(sealed).revoked, std::size(kEndpointTypes));
  EXPECT_EQ(counters(sealed).frames, 0U);
}

// The slot has been given to another socket: the former one must not send with its grant.
TEST_P(attack_send, kept_when_the_slot_went_to_another) {
  const Sealed old = open(kEndpoint);
  next_slot_ = old.slot;
  const Sealed now = open(kEndpoint);
  as_user([&] {
    send_frame(old.data, frame_from(kEndpoint, 39));
    EXPECT_EQ(send_frame(now.data, last_from(kEndpoint)), 0);
  });
  EXPECT_TRUE(arrived(kEndpoint).empty());
  EXPECT_EQ(counters(now).revoked, 1U);
}

TEST_P(attack_send, by_the_wakeup_socket) {
  const Sealed sealed = open(kEndpoint);
  as_user([&] {
    send_frame(sealed.wakeup, frame_from(kEndpoint, 39));
    EXPECT_EQ(send_frame(sealed.data, last_from(kEndpoint)), 0);
  });
  EXPECT_TRUE(arrived(kEndpoint).empty());
  EXPECT_EQ(counters(sealed).revoked, 1U);
}

// A frame of 1 KiB costs 1000 s here, so no more than the burst gets out, however slow the machine.
TEST_P(attack_send, flood_beyond_the_rate) {
  constexpr std::uint64_t kCost = 1'000'000'000'000;
  const Sealed first = open(kEndpoint), second = open(10);
  for (const Sealed* sealed : {&first, &second}) {
    Grant limited = grant_of(*sealed);
    limited.user = 5;
    grant(*sealed, limited);
  }
  ASSERT_EQ(user_rate_write(maps_, 5, {kCost, 3 * kCost, 0}), 0);
  as_user([&] {
    for (int i = 0; i < 50; i++) {
      send_frame(first.data, frame_from(kEndpoint, 39, 1024));
      send_frame(second.data, frame_from(10, 39, 1024));
    }
  });
  EXPECT_EQ(counters(first).frames + counters(second).frames, 4U) << "both together";
  EXPECT_EQ(counters(first).too_fast + counters(second).too_fast, 96U);
  ASSERT_EQ(user_rate_write(maps_, 5, {kCost, 3 * kCost, 0}), 0);
  attack_by(first, {});
  EXPECT_EQ(arrived(kEndpoint).size(), 4U);
}

TEST_P(attack_send, rate_that_is_not_reached__all_get_out) {
  const Sealed sealed = open(kEndpoint);
  Grant limited = grant_of(sealed);
  limited.user = kUsers - 1;
  grant(sealed, limited);
  ASSERT_EQ(user_rate_write(maps_, kUsers - 1, {1, 1'000'000'000, 0}), 0);
  const std::vector<Bytes> frames(100, frame_from(kEndpoint, 39, 1024));
  attack_by(sealed, frames);
  EXPECT_TRUE(arrived(kEndpoint) == frames);
  limited.user = kUsers;  // beyond the map: no frame
  grant(sealed, limited);
  as_user([&] { send_frame(sealed.data, frame_from(kEndpoint, 39)); });
  EXPECT_EQ(counters(sealed).too_fast, 1U);
}

TEST_P(attack_send, by_another_interface) {
  const Sealed sealed = open(kEndpoint);
  const Bytes frame = frame_from(kEndpoint, 39);
  as_user([&] {
    for (unsigned ifindex = 1; ifindex < 64; ifindex++) {
      sockaddr_ll to{};
      to.sll_family = AF_PACKET;
      to.sll_protocol = htons(0x86DF);
      to.sll_ifindex = static_cast<int>(ifindex);
      if (ifindex == macvlan_.ifindex) continue;
      EXPECT_LT(::sendto(sealed.data.get(), frame.data(), frame.size(), 0,
                         reinterpret_cast<const sockaddr*>(&to), sizeof to),
                0)
          << ifindex;
    }
    EXPECT_EQ(send_frame(sealed.data, last_from(kEndpoint)), 0);
  });
  EXPECT_TRUE(arrived(kEndpoint).empty());
}

// A socket that lost its mark would not be judged by a grant.
TEST_P(attack_send, without_a_mark) {
  if (place_ == Place::nic) GTEST_SKIP() << "the NIC is for all";
  const Sealed sealed = open(kEndpoint);
  const auto plain = packet_socket_open(*network_);
  ASSERT_TRUE(plain);
  ASSERT_EQ(link::packet_socket_bind(plain->get(), macvlan_.ifindex), 0);
  EXPECT_EQ(send_frame(*plain, frame_from(kEndpoint, 39)), ENOBUFS);
  attack_by(sealed, {});
  EXPECT_TRUE(arrived(kEndpoint).empty());
}

// Frames to another user's endpoint of the same board leave the host: no short cut avoids the program.
TEST_P(attack_send, to_the_own_board) {
  const Sealed sealed = open(kEndpoint), victim = open(10);
  Bytes frame = frame_from(kEndpoint, 39);
  frame[17] = std::byte{10};
  for (const NicId to : {macvlan_.nic, kBroadcastNic}) {
    mac_store(&frame[0], to);
    attack_by(sealed, std::vector<Bytes>{frame});
    EXPECT_TRUE(arrived(kEndpoint) == (std::vector<Bytes>{frame}));
    EXPECT_TRUE(types_in(victim.data).empty());
  }
}

}  // namespace
}  // namespace omx::broker
