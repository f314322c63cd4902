// SPDX-License-Identifier: BSD-3-Clause
// Sealed sockets in the life of a broker: without a seal, after its end, and when another one takes over.
#include "tools/broker/kernel/sealed_socket.h"

#include <net/if.h>

#include <atomic>
#include <thread>

#include "link/packet/packet_socket.h"
#include "netdev/bpf_call.h"
#include "sealed_fixture.h"
#include "tools/broker/kernel/egress_clsact.h"
#include "tools/broker/kernel/egress_hook.h"
#include "tools/broker/kernel/egress_program.h"

namespace omx::broker {
namespace {

using sealed_socket = SealedTest;

TEST_F(sealed_socket, cookies__differ) {
  const auto first = packet_socket_open(*network_), second = packet_socket_open(*network_);
  ASSERT_TRUE(first && second);
  EXPECT_NE(socket_cookie(first->get()).value_or(0), 0U);
  EXPECT_EQ(socket_cookie(first->get()).value_or(0), socket_cookie(first->get()).value_or(1));
  EXPECT_NE(socket_cookie(first->get()).value_or(0), socket_cookie(second->get()).value_or(0));
  EXPECT_FALSE(socket_cookie(-1));
}

class sealed_socket_steps : public SealedTest {
 protected:
  // Makes a socket that is ready to be sealed with slot 1.
  OwnFd prepare() {
    auto classes = classes_make();
    auto socket = packet_socket_open(*network_);
    EXPECT_TRUE(classes && socket);
    const auto program = receive_program_load(maps_, classes->get(), {.slot = 1, .cookie = 1});
    EXPECT_TRUE(program) << program.error().message;
    EXPECT_TRUE(packet_socket_lock(socket->get(), program->get()));
    return std::move(*socket);
  }
  static void expect_refused(const Result<void>& sealed, const char* text) {
    ASSERT_FALSE(sealed);
    EXPECT_NE(sealed.error().message.find(text), std::string::npos) << sealed.error().message;
  }
};

TEST_F(sealed_socket_steps, without_the_seal__is_refused) {
  ASSERT_TRUE(seal_->leave());
  const OwnFd socket = prepare();
  expect_refused(packet_socket_seal(socket.get(), macvlan_.ifindex, 1), "seal of a socket does not hold");
}

TEST_F(sealed_socket_steps, without_a_program__is_refused_before_it_is_bound) {
  const auto socket = packet_socket_open(*network_);
  ASSERT_TRUE(socket);
  expect_refused(packet_socket_seal(socket->get(), macvlan_.ifindex, 1), "without a locked receive program");
  peer_send(frame_to(kEndpoint, 39));
  EXPECT_TRUE(types_in(*socket).empty());
}

TEST_F(sealed_socket_steps, interface_gone__the_failure_names_the_step) {
  const OwnFd socket = prepare();
  link::ip("link del v0");
  expect_refused(packet_socket_seal(socket.get(), macvlan_.ifindex, 1), "bind a sealed socket");
}

TEST_F(sealed_socket_steps, prepared__receives_nothing) {
  const Sealed other = open(kEndpoint);
  const OwnFd socket = prepare();
  for (const unsigned type : kEndpointTypes) peer_send(frame_to(kEndpoint, type));
  EXPECT_TRUE(link::becomes_true([&] { return !types_in(other.data).empty(); }));
  EXPECT_TRUE(types_in(socket).empty());
}

// A new broker beside a job that goes on finds program, maps and grants by the interface alone.
TEST_F(sealed_socket, another_broker__takes_over_and_replaces_the_program) {
  const Sealed sealed = open(kEndpoint);
  const Grant before = grant_of(sealed);
  ASSERT_TRUE(seal_->leave());
  maps_ = {};
  program_.reset();

  EgressHook hook;
  ASSERT_EQ(run_in(*network_, [&] { hook = egress_hook_find(macvlan_.ifindex).value_or(EgressHook{}); }), 0);
  ASSERT_NE(hook.program_id, 0U);
  EXPECT_TRUE(hook.first);
  const OwnFd former = link::bpf_by_id(BPF_PROG_GET_FD_BY_ID, hook.program_id);
  ASSERT_TRUE(former.open());
  auto maps = grant_maps_of(former.get());
  ASSERT_TRUE(maps) << maps.error().message;
  maps_ = std::move(*maps);
  Grant found;
  ASSERT_EQ(grant_read(maps_, sealed.slot, found), 0);
  EXPECT_EQ(found, before);
  ASSERT_NO_FATAL_FAILURE(program_put(Place::macvlan));

  Bytes bad = frame_from(kEndpoint, 39);
  bad[18] ^= std::byte{1};
  attack_by(sealed, {bad, frame_from(kEndpoint, 39)});
  EXPECT_EQ(arrived(kEndpoint).size(), 1U);
  EXPECT_EQ(counters(sealed).bad_endpoint, 1U);
  EXPECT_EQ(counters(sealed).frames, 2U);
  ASSERT_EQ(grant_clear(maps_, sealed.slot), 0);
  as_user([&] { EXPECT_EQ(send_frame(sealed.data, frame_from(kEndpoint, 39)), ENOBUFS); });
}

// A restarted broker replaces the programs while jobs send.
TEST_F(sealed_socket, program_is_replaced__no_frame_is_lost) {
  const Sealed sealed = open(kEndpoint);
  std::atomic<bool> ends = false;
  std::thread replacing([&] {
    while (!ends) program_put(Place::macvlan);
  });
  as_user([&] {
    const Bytes good = frame_from(kEndpoint, 39);
    int refused = 0;
    for (int i = 0; i < 20'000; i++) refused += send_frame(sealed.data, good) == 0 ? 0 : 1;
    EXPECT_EQ(refused, 0);
  });
  ends = true;
  replacing.join();
}

// Kernels before 6.6 have no other hook.
TEST_F(sealed_socket, by_a_clsact__is_confined_as_well) {
  Result<void> removed, added;
  ASSERT_EQ(run_in(*network_,
                   [&] {
                     removed = egress_hook_remove(macvlan_.ifindex);
                     added = clsact_add(macvlan_.ifindex, program_.get());
                   }),
            0);
  ASSERT_TRUE(removed && added);
  const Sealed sealed = open(kEndpoint);
  const Bytes good = frame_from(kEndpoint, 39, 1514);
  Bytes type = good, source = good, endpoint = good;
  type[13] = std::byte{0};
  source[6] ^= std::byte{1};
  endpoint[18] ^= std::byte{1};
  attack_by(sealed, {type, source, endpoint, frame_from(kEndpoint, 39, 31), good});
  EXPECT_TRUE(arrived(kEndpoint) == std::vector<Bytes>{good});
  EXPECT_EQ(counters(sealed), (GrantCounters{2, 1514 + last_from(kEndpoint).size(), 1, 1, 1, 1, 0, 0}));
}

// All frames of the NIC go to the macvlan, which has the NIC's address.
TEST_F(sealed_socket, whole_nic__is_confined_as_well) {
  ASSERT_TRUE(macvlan_remove(*network_, "v0"));
  const auto whole = macvlan_make(*network_, {.name = "v0",
                                              .lower = ::if_nametoindex("v0"),
                                              .nic = link::nic_of("v0"),
                                              .mtu = 1500,
                                              .mode = MacvlanMode::whole});
  ASSERT_TRUE(whole) << whole.error().message;
  macvlan_ = *whole;
  ASSERT_NO_FATAL_FAILURE(program_put(Place::macvlan));  // it went with the former macvlan
  const Sealed sealed = open(kEndpoint);
  Bytes type = frame_from(kEndpoint, 39), source = type, endpoint = type;
  type[13] = std::byte{0};
  source[6] ^= std::byte{1};
  endpoint[18] ^= std::byte{1};
  attack_by(sealed, {type, source, endpoint});
  EXPECT_TRUE(arrived(kEndpoint).empty());
  EXPECT_EQ(counters(sealed), (GrantCounters{1, last_from(kEndpoint).size(), 1, 1, 1, 0, 0, 0}));
  peer_send(frame_to(kEndpoint, 39));
  EXPECT_TRUE(link::becomes_true([&] { return !types_in(sealed.data).empty(); }));
}

// Nothing has to be opened again after an outage of the NIC or of its cable.
TEST_F(sealed_socket, nic_down_and_up__the_socket_still_works) {
  const Sealed sealed = open(kEndpoint);
  for (const char* end : {"v0", "v1"}) {
    link::ip(std::string("link set ") + end + " down");
    send_frame(sealed.data, frame_from(kEndpoint, 39));
    link::packet_socket_clear_error(peer_.get());
    ASSERT_NO_FATAL_FAILURE(set_mtu(1500));  // sets both up
    link::packet_socket_clear_error(peer_.get());
    EXPECT_TRUE(link::becomes_true([&] {
      peer_send(frame_to(kEndpoint, 39));
      return !types_in(sealed.data).empty();
    }));
    attack_by(sealed, {});
    arrived(kEndpoint);
    EXPECT_TRUE(seal_holds(sealed.data.get()));
  }
}

// A job goes on when the broker has removed its mount of the private network.
TEST_F(sealed_socket, private_network_removed__the_socket_still_works) {
  const Sealed sealed = open(kEndpoint);
  ASSERT_TRUE(network_->remove());
  attack_by(sealed, {});
  EXPECT_TRUE(arrived(kEndpoint).empty());
  peer_send(frame_to(kEndpoint, 39));
  EXPECT_TRUE(link::becomes_true([&] { return !types_in(sealed.data).empty(); }));
}

// The address of the macvlan is free again as soon as the last socket of a former broker is closed.
TEST_F(sealed_socket, last_socket_closed__the_macvlan_goes) {
  Sealed sealed = open(kEndpoint);
  ASSERT_TRUE(network_->remove());
  network_.reset();
  std::string reason;
  const auto can_be_made = [&] {
    auto again = PrivateNetwork::make();
    if (!again) return false;
    const auto made = macvlan_make(
        *again, {.name = "v0", .lower = ::if_nametoindex("v0"), .nic = macvlan_.nic, .mtu = 1500});
    EXPECT_TRUE(made) << made.error().message;
    const auto started = macvlan_start(*again, "v0");
    reason = started ? "" : started.error().message;
    return started.has_value();
  };
  EXPECT_FALSE(can_be_made());
  EXPECT_NE(reason.find("wait until they end"), std::string::npos) << reason;
  sealed.data.reset();
  sealed.wakeup.reset();
  EXPECT_TRUE(link::becomes_true(can_be_made)) << reason;
}

}  // namespace
}  // namespace omx::broker
