// SPDX-License-Identifier: BSD-3-Clause
// The library with a broker that goes away, is slow, refuses or lies.
#include "broker/granted_endpoint.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <future>

#include "broker/offers.h"
#include "netdev/open_failure.h"
#include "tests/broker/fake_broker.h"
#include "tests/support/no_descriptor.h"
#include "tests/support/test_network.h"

namespace omx::broker {

namespace {

using link::becomes_true;
using testing::HasSubstr;

constexpr std::chrono::milliseconds kPause{20};  // between two looks for a broker

std::size_t descriptors_open() {
  const std::filesystem::directory_iterator entries("/proc/self/fd");
  return static_cast<std::size_t>(std::distance(begin(entries), end(entries)));
}

class GrantedEndpointTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!grant_.socket.open()) GTEST_SKIP() << "packet sockets need CAP_NET_RAW";
  }
  // Asks for the data socket while the broker does `work` with the connection.
  Result<link::GrantedSockets::Data> data(const std::function<void(FakeClient&)>& work) {
    auto asked = std::async(std::launch::async, [this] { return endpoint_.data(); });
    client_ = broker_.accept();
    EXPECT_TRUE(client_.request_comes(Kind::open));
    work(client_);
    return asked.get();
  }
  // Makes the endpoint hold its grant.
  void hold() {
    const auto granted = data([&](FakeClient& client) { grant(client, grant_.answer); });
    ASSERT_TRUE(granted) << granted.error().message;
    ASSERT_FALSE(endpoint_.withdrawn());
  }
  void grant(FakeClient& client, const Answer& answer) {
    client.answer(Kind::open, answer, grant_.descriptors());
  }
  // Waits until the endpoint asks again for the grant that it lost.
  void asked_again() {
    ASSERT_TRUE(becomes_true([&] { return endpoint_.withdrawn() || broker_.called(); }));
    ASSERT_FALSE(endpoint_.withdrawn());
    client_ = broker_.accept();
    ASSERT_TRUE(client_.request_comes(Kind::attach));
  }
  // Loses the grant with the connection, and answers the first question for it.
  void lost_then(const std::function<void(FakeClient&)>& answer) {
    hold();
    client_.close();
    asked_again();
    if (!HasFatalFailure()) answer(client_);
  }
  // Asks for a socket while the broker answers with what the grant has as a packet socket.
  OwnFd socket_once() {
    auto asked = std::async(std::launch::async, [this] { return endpoint_.bulk(); });
    EXPECT_TRUE(client_.request_comes(Kind::socket));
    client_.answer(Kind::socket, {}, {grant_.socket.get()});
    return asked.get();
  }
  // On a starved machine the answer may be too late.
  bool socket_given() {
    return becomes_true([&] { return socket_once().open() || HasFailure(); }) && !HasFailure();
  }
  // The answer says nothing of the grant, so it is asked for again.
  void expect_unknown(const std::function<void(FakeClient&)>& answer) {
    lost_then(answer);
    if (!HasFatalFailure()) asked_again();
    if (HasFatalFailure()) return;
    client_.answer(Kind::attach);
    EXPECT_FALSE(endpoint_.withdrawn());
    EXPECT_TRUE(socket_given());
  }
  void expect_revoked(int code) {
    lost_then([&](FakeClient& client) { client.refuse(Kind::attach, code, "refused"); });
    EXPECT_TRUE(becomes_true([&] { return endpoint_.withdrawn(); }));
    EXPECT_FALSE(endpoint_.bulk().open());
  }
  void expect_lie(const Answer& answer, const std::string& sentence) {
    const auto granted = data([&](FakeClient& client) { grant(client, answer); });
    ASSERT_FALSE(granted);
    EXPECT_THAT(granted.error().message, HasSubstr(sentence));
  }

  FakeBroker broker_;
  FakeClient client_;
  FakeGrant grant_;
  GrantedEndpoint endpoint_{{broker_.path(), "v0", 3, 64, 1U << 20}, kPause};
};

// --- what means that the grant is gone ---

TEST_F(GrantedEndpointTest, revoked__there_is_no_such_grant) {
  expect_revoked(kNoGrant);
}

TEST_F(GrantedEndpointTest, revoked__the_policy_forbids_it) {
  expect_revoked(link::kNoPermission);
}

TEST_F(GrantedEndpointTest, unknown__the_broker_closes_the_connection) {
  expect_unknown([](FakeClient& client) { client.close(); });
}

TEST_F(GrantedEndpointTest, unknown__another_version) {
  expect_unknown([](FakeClient& client) {
    Answer answer;
    answer.head.version = kVersion + 1;
    client.answer(Kind::attach, answer);
  });
}

TEST_F(GrantedEndpointTest, unknown__too_many_connections) {
  expect_unknown([](FakeClient& client) {
    client.refuse(Kind::attach, link::kNoResources, "10 of 10 connections");
    client.close();
  });
}

TEST_F(GrantedEndpointTest, unknown__the_board_is_not_served) {
  expect_unknown([](FakeClient& client) { client.refuse(Kind::attach, link::kBoardUnknown, "no board v0"); });
}

TEST_F(GrantedEndpointTest, unknown__an_answer_to_another_question) {
  expect_unknown([](FakeClient& client) { client.answer(Kind::name); });
}

TEST_F(GrantedEndpointTest, unknown__no_descriptor_is_left) {
  hold();
  client_.close();
  {
    const NoDescriptor none;
    EXPECT_FALSE(endpoint_.withdrawn());
  }
  asked_again();
  if (HasFatalFailure()) return;
  client_.answer(Kind::attach);
  EXPECT_FALSE(endpoint_.withdrawn());
  EXPECT_TRUE(socket_given());
}

TEST_F(GrantedEndpointTest, unknown__no_broker_until_the_next_one_starts) {
  hold();
  client_.close();
  broker_.end();
  EXPECT_FALSE(endpoint_.withdrawn());
  EXPECT_FALSE(endpoint_.bulk().open());
  broker_.start();
  asked_again();
  if (HasFatalFailure()) return;
  client_.answer(Kind::attach);
  EXPECT_FALSE(endpoint_.withdrawn());
  EXPECT_TRUE(socket_given());
}

// --- nothing waits under the endpoint's lock ---

// A thread that waits in connect() would hang this test.
TEST_F(GrantedEndpointTest, full_queue__the_grant_is_unknown_and_nothing_waits) {
  hold();
  client_.close();
  broker_.queue_fill();
  EXPECT_FALSE(endpoint_.withdrawn());
  EXPECT_FALSE(endpoint_.bulk().open());
  broker_.queue_empty();
  asked_again();
  if (HasFatalFailure()) return;
  client_.answer(Kind::attach);
  EXPECT_FALSE(endpoint_.withdrawn());
  EXPECT_TRUE(socket_given());
}

TEST_F(GrantedEndpointTest, asked__the_answer_is_looked_for_at_the_next_call) {
  hold();
  client_.close();
  asked_again();
  // The broker has the question, and takes its time.
  for (int i = 0; i < 3; i++) {
    EXPECT_FALSE(endpoint_.withdrawn());
    EXPECT_FALSE(endpoint_.bulk().open());
  }
  EXPECT_FALSE(broker_.called()) << "it asks once";
  client_.answer(Kind::attach);
  EXPECT_FALSE(endpoint_.withdrawn());
  EXPECT_TRUE(socket_given()) << "the late answer counts";
}

// --- late answers ---

TEST_F(GrantedEndpointTest, late__an_answer_is_dropped_with_its_descriptors) {
  hold();
  EXPECT_FALSE(endpoint_.bulk().open());
  ASSERT_TRUE(client_.request_comes(Kind::socket));
  EXPECT_FALSE(endpoint_.bulk().open());
  EXPECT_FALSE(client_.asks()) << "one question at a time";
  client_.answer(Kind::socket, {}, {grant_.socket.get(), grant_.socket.get()});
  const std::size_t before = descriptors_open();
  EXPECT_TRUE(socket_given());
  EXPECT_EQ(descriptors_open(), before);
  EXPECT_TRUE(socket_given());
}

TEST_F(GrantedEndpointTest, late__without_an_answer_there_are_no_boards) {
  const auto offers = boards_offered(broker_.path());
  ASSERT_FALSE(offers);
  EXPECT_THAT(offers.error().message, HasSubstr("no answer in time"));
}

TEST_F(GrantedEndpointTest, late__without_an_answer_there_is_no_data_socket_until_asked_again) {
  const auto granted = data([](FakeClient&) {});
  ASSERT_FALSE(granted);
  EXPECT_THAT(granted.error().message, HasSubstr("no answer in time"));
  EXPECT_FALSE(endpoint_.withdrawn());
  hold();
}

TEST_F(GrantedEndpointTest, full_queue__boards_are_not_waited_for_without_limit) {
  broker_.queue_fill();
  const auto offers = boards_offered(broker_.path());
  ASSERT_FALSE(offers);
  EXPECT_THAT(offers.error().message, HasSubstr("its queue is full"));
}

TEST_F(GrantedEndpointTest, full_queue__a_moment_later_there_is_room) {
  broker_.queue_fill();
  auto offered = std::async(std::launch::async, [&] { return boards_offered(broker_.path()); });
  broker_.queue_empty();
  client_ = broker_.accept();
  ASSERT_TRUE(client_.request_comes(Kind::boards));
  client_.answer(Kind::boards);
  EXPECT_TRUE(offered.get());
}

// --- lies ---

TEST_F(GrantedEndpointTest, lie__a_ring_that_cannot_be) {
  const auto with = [&](auto change) {
    Answer answer = grant_.answer;
    change(answer);
    expect_lie(answer, "a ring that cannot be");
  };
  with([](Answer& a) { a.blocks = 0; });
  with([](Answer& a) { a.slots_per_block = 0; });
  with([](Answer& a) { a.slots_per_block = a.block_bytes / a.slot_bytes + 1; });
  with([](Answer& a) { a.slot_bytes = 0; });
  with([](Answer& a) { a.slot_bytes = 8; });
  with([](Answer& a) { a.slot_bytes += 1; });
  with([](Answer& a) { a.blocks = 0xFFFFFFFF; });
  with([](Answer& a) { a.blocks = 0x80000001, a.slots_per_block = 2; });  // 2 slots in 32 bits
}

TEST_F(GrantedEndpointTest, lie__a_descriptor_that_is_no_packet_socket) {
  grant_.socket = OwnFd(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  expect_lie(grant_.answer, "something that is no packet socket");
  grant_.socket = OwnFd(::memfd_create("no socket", MFD_CLOEXEC));
  expect_lie(grant_.answer, "something that is no packet socket");
}

TEST_F(GrantedEndpointTest, lie__another_socket_that_is_no_packet_socket) {
  hold();
  grant_.socket = OwnFd(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  EXPECT_FALSE(socket_once().open());
}

}  // namespace

}  // namespace omx::broker
