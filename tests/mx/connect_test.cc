// SPDX-License-Identifier: BSD-3-Clause
// Connections, addresses and names (docs/spec/mx-clients.md 1 to 7, 18).
#include <arpa/inet.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <sys/socket.h>

#include <array>

#include "base/own_fd.h"
#include "mx_pair.h"

namespace omx::mx_tests {
namespace {

using testing::AnyOf;

class Connect : public Pair {
 protected:
  // Connects while the other end makes progress.
  mx_return_t connect_to(mx_endpoint_t to, std::uint32_t key, std::uint32_t timeout,
                         mx_endpoint_addr_t* addr) {
    const Background other([this] { mx_progress(b_); });
    return mx_connect(a_, nic(to), id(to), key, timeout, addr);
  }
};

TEST_F(Connect, blocking) {
  mx_endpoint_addr_t addr{};
  EXPECT_EQ(connect_to(b_, kKey, kLongMs, &addr), MX_SUCCESS);
  EXPECT_TRUE(same(addr, address(b_)));
  EXPECT_EQ(connect_to(b_, kKey, MX_INFINITE, &addr), MX_SUCCESS);
  EXPECT_TRUE(g_handled.empty());
}

// 1: failures return, and programs try again on MX_TIMEOUT only.
TEST_F(Connect, nobody_there_is_a_timeout) {
  mx_endpoint_addr_t addr{};
  g_handled.clear();
  EXPECT_EQ(mx_connect(a_, 0x020000000077, 1, kKey, kShortMs, &addr), MX_TIMEOUT);
  ASSERT_EQ(g_handled.size(), 1U);
  EXPECT_EQ(g_handled[0].code, MX_TIMEOUT);
}

// Finding the reason takes time, and MX_ERRORS_RETURN drops it.
TEST_F(Connect, nobody_there__the_network_is_asked_why_only_for_a_handler_that_reads_it) {
  OMX_SKIP_BY_UDP();
  OMX_SKIP_BY_BROKER();
  constexpr auto kHostQuery = static_cast<std::uint8_t>(wire::PacketType::host_query);
  // Receives frames for other hosts, which a link does not take.
  const OwnFd listener(::socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  sockaddr_ll v1{};
  v1.sll_family = AF_PACKET;
  v1.sll_protocol = htons(wire::kEthertype);
  v1.sll_ifindex = static_cast<int>(::if_nametoindex("v1"));
  ASSERT_EQ(::bind(listener.get(), reinterpret_cast<const sockaddr*>(&v1), sizeof v1), 0);
  const auto queries = [&](mx_error_handler_t handler) {
    mx_set_error_handler(handler);
    mx_endpoint_addr_t addr{};
    EXPECT_EQ(mx_connect(a_, 0x020000000077, 1, kKey, 1000, &addr), MX_TIMEOUT);
    int count = 0;
    std::array<std::uint8_t, 64> frame{};
    while (::recv(listener.get(), frame.data(), frame.size(), 0) > 0) count += frame[16] == kHostQuery;
    return count;
  };
  EXPECT_EQ(queries(MX_ERRORS_RETURN), 0);
  EXPECT_GT(queries(recording_handler), 0);
}

TEST_F(Connect, timeout_leaves_no_request_behind) {
  mx_endpoint_addr_t addr{};
  EXPECT_EQ(mx_connect(a_, 0x020000000077, 1, kKey, kShortMs, &addr), MX_TIMEOUT);
  std::uint32_t result = 1;
  // This is longer than the time after which a pending connect is given up.
  EXPECT_EQ(mx_wait_any(a_, 3500, 0, 0, nullptr, &result), MX_SUCCESS);
  EXPECT_EQ(result, 0U);
}

TEST_F(Connect, wakeup_ends_it_as_a_timeout) {
  const Background waker([this] { mx_wakeup(a_); });
  mx_endpoint_addr_t addr{};
  EXPECT_EQ(mx_connect(a_, 0x020000000077, 1, kKey, MX_INFINITE, &addr), MX_TIMEOUT);
}

// 6
TEST_F(Connect, endpoint_that_is_not_open) {
  mx_endpoint_addr_t addr{};
  const std::uint32_t closed = 9;
  const Background other([this] { mx_progress(b_); });
  EXPECT_EQ(mx_connect(a_, nic(b_), closed, kKey, kLongMs, &addr), MX_CONNECTION_FAILED);
}

// 6
TEST_F(Connect, wrong_key) {
  mx_endpoint_addr_t addr{};
  EXPECT_EQ(connect_to(b_, kKey + 1, kLongMs, &addr), MX_BAD_CONNECTION_KEY);
  // The existing connection is not harmed.
  Bytes buffer(4);
  finish_both(b_, post(b_, buffer, 1), a_, send(a_, to_b_, pattern(4), 1));
}

// 3
TEST_F(Connect, to_itself) {
  mx_endpoint_addr_t addr{};
  EXPECT_EQ(mx_connect(a_, nic(a_), id(a_), kKey, kLongMs, &addr), MX_SUCCESS);
  for (const std::size_t size : {0, 20, 100, 20000, 1000000}) {
    const Bytes data = pattern(size);
    Bytes buffer(size);
    const mx_request_t sent = send(a_, addr, data, 1);
    const mx_status_t status = finish(a_, post(a_, buffer, 1));
    EXPECT_EQ(status.code, MX_STATUS_SUCCESS);
    EXPECT_TRUE(same(status.source, addr));
    EXPECT_EQ(buffer, data);
    EXPECT_EQ(finish(a_, sent).code, MX_STATUS_SUCCESS);
  }
}

// 3: with these variables set, a client may still send to itself.
class Hints : public Connect, public testing::WithParamInterface<const char*> {};

INSTANTIATE_TEST_SUITE_P(prefixes, Hints, testing::Values("OMX_", "MX_"));

TEST_P(Hints, to_itself_and_its_host_where_that_is_disabled) {
  mx_finalize();
  environment_.set(GetParam() + std::string("DISABLE_SELF"), "1");
  environment_.set(GetParam() + std::string("DISABLE_SHARED"), "1");
  ASSERT_EQ(mx_init(), MX_SUCCESS);
  a_ = open(0);
  b_ = open(1);
  const mx_endpoint_addr_t self = connect(a_, a_);
  to_b_ = connect(a_, b_);
  for (const mx_endpoint_addr_t& to : {self, to_b_}) {
    const mx_endpoint_t receiver = same(to, self) ? a_ : b_;
    Bytes buffer(100000);
    finish_both(receiver, post(receiver, buffer, 1), a_, send(a_, to, pattern(100000), 1));
    EXPECT_EQ(buffer, pattern(100000));
  }
}

// 4
TEST_F(Connect, both_ways_at_once) {
  mx_request_t requests[2];
  EXPECT_EQ(mx_iconnect(a_, nic(b_), id(b_), kKey, 1, nullptr, &requests[0]), MX_SUCCESS);
  EXPECT_EQ(mx_iconnect(b_, nic(a_), id(a_), kKey, 2, nullptr, &requests[1]), MX_SUCCESS);
  const mx_status_t ab = finish(a_, requests[0]);
  const mx_status_t ba = finish(b_, requests[1]);
  EXPECT_EQ(ab.code, MX_STATUS_SUCCESS);
  EXPECT_EQ(ba.code, MX_STATUS_SUCCESS);
  for (unsigned i = 0; i < 20; i++) {
    Bytes at_a(300), at_b(300);
    finish_both(b_, post(b_, at_b, i), a_, send(a_, ab.source, pattern(300, i), i));
    finish_both(a_, post(a_, at_a, i), b_, send(b_, ba.source, pattern(300, i + 1), i));
    EXPECT_EQ(at_b, pattern(300, i));
    EXPECT_EQ(at_a, pattern(300, i + 1));
  }
}

// 5
TEST_F(Connect, again_after_the_peer_restarted) {
  const std::uint32_t its_id = id(b_);
  std::uint32_t session_before = 0;
  EXPECT_EQ(mx_decompose_endpoint_addr2(to_b_, nullptr, nullptr, &session_before), MX_SUCCESS);
  EXPECT_EQ(mx_close_endpoint(b_), MX_SUCCESS);
  b_ = open(1, its_id);
  EXPECT_THAT(finish(a_, send_sync(a_, to_b_, pattern(10), 1)).code,
              AnyOf(MX_STATUS_BAD_SESSION, MX_STATUS_ENDPOINT_CLOSED, MX_STATUS_ENDPOINT_UNREACHABLE));

  const mx_endpoint_addr_t again = connect(a_, b_);
  std::uint32_t session_after = 0;
  EXPECT_EQ(mx_decompose_endpoint_addr2(again, nullptr, nullptr, &session_after), MX_SUCCESS);
  EXPECT_NE(session_before, session_after);
  Bytes buffer(10);
  finish_both(b_, post(b_, buffer, 2), a_, send(a_, again, pattern(10), 2));
  EXPECT_EQ(finish(a_, send(a_, to_b_, pattern(10), 1)).code, MX_STATUS_BAD_SESSION);
}

TEST_F(Connect, sending_to_a_closed_endpoint_fails) {
  mx_close_endpoint(b_);
  b_ = open(1, 20);  // an endpoint that answers for the board
  EXPECT_THAT(finish(a_, send_sync(a_, to_b_, pattern(10), 1)).code,
              AnyOf(MX_STATUS_ENDPOINT_CLOSED, MX_STATUS_ENDPOINT_UNREACHABLE));
}

TEST_F(Connect, disconnect_fails_what_is_pending) {
  const Bytes data = pattern(10);
  mx_request_t sent = send_sync(a_, to_b_, data, 1);
  EXPECT_EQ(mx_disconnect(a_, to_b_), MX_SUCCESS);
  EXPECT_EQ(finish(a_, sent).code, MX_STATUS_ENDPOINT_UNREACHABLE);
  const mx_endpoint_addr_t again = connect(a_, b_);
  Bytes buffer(10);
  finish_both(b_, post(b_, buffer, 2), a_, send(a_, again, pattern(10), 2));
}

TEST_F(Connect, address_contexts) {
  void* context = this;
  EXPECT_EQ(mx_get_endpoint_addr_context(to_b_, &context), MX_SUCCESS);
  EXPECT_EQ(context, nullptr);
  EXPECT_EQ(mx_set_endpoint_addr_context(to_b_, &to_b_), MX_SUCCESS);
  EXPECT_EQ(mx_get_endpoint_addr_context(connect(a_, b_), &context), MX_SUCCESS);
  EXPECT_EQ(context, &to_b_);
  EXPECT_EQ(mx_get_endpoint_addr_context(address(a_), &context), MX_SUCCESS);
  EXPECT_EQ(context, nullptr);
}

// 7
TEST_F(Connect, names_and_nic_ids_are_inverse) {
  // A broker names the boards for all users of the host.
  char own[256] = "host";
  if (by_broker()) ::gethostname(own, sizeof own);
  for (std::uint32_t board = 0; board < 2; board++) {
    std::uint64_t board_nic = 0, found = 0;
    std::uint32_t number = 9;
    char name[MX_MAX_HOSTNAME_LEN];
    EXPECT_EQ(mx_board_number_to_nic_id(board, &board_nic), MX_SUCCESS);
    EXPECT_EQ(mx_nic_id_to_board_number(board_nic, &number), MX_SUCCESS);
    EXPECT_EQ(number, board);
    EXPECT_EQ(mx_nic_id_to_hostname(board_nic, name), MX_SUCCESS);
    EXPECT_EQ(name, std::string(own) + ":" + std::to_string(board));
    EXPECT_EQ(mx_hostname_to_nic_id(name, &found), MX_SUCCESS);
    EXPECT_EQ(found, board_nic);
  }
  std::uint64_t found = 0;
  EXPECT_EQ(mx_hostname_to_nic_id(own, &found), MX_SUCCESS);
  EXPECT_EQ(found, nic(a_));
}

TEST_F(Connect, unknown_names) {
  std::uint64_t found = 0;
  char name[200] = "nowhere:0";
  EXPECT_EQ(mx_hostname_to_nic_id(name, &found), MX_HOST_NOT_FOUND);
  std::memset(name, 'x', sizeof name - 1);
  name[sizeof name - 1] = '\0';
  EXPECT_EQ(mx_hostname_to_nic_id(name, &found), MX_HOST_NOT_FOUND);
  EXPECT_EQ(mx_nic_id_to_hostname(0x020000000077, name), MX_HOST_NOT_FOUND);
  std::uint32_t board;
  EXPECT_EQ(mx_nic_id_to_board_number(0x020000000077, &board), MX_BOARD_UNKNOWN);
  EXPECT_EQ(mx_board_number_to_nic_id(2, &found), MX_BOARD_UNKNOWN);
}

// 18: the endpoint's default reaches sends, and leaves unmatched receives alone.
TEST_F(Connect, request_timeout_of_the_endpoint) {
  EXPECT_EQ(mx_set_request_timeout(a_, nullptr, 200), MX_SUCCESS);
  Bytes buffer(4);
  mx_request_t receive = post(a_, buffer, 77);
  const Bytes data = pattern(10);
  EXPECT_EQ(mx_disable_progression(b_), MX_SUCCESS);  // b_ no longer answers
  mx_request_t sent = send_sync(a_, to_b_, data, 1);
  mx_status_t status{};
  std::uint32_t result = 0;
  EXPECT_EQ(mx_wait(a_, &sent, kLongMs, &status, &result), MX_SUCCESS);
  EXPECT_EQ(result, 1U);
  EXPECT_THAT(status.code, AnyOf(MX_STATUS_ENDPOINT_UNREACHABLE, MX_STATUS_TIMEOUT));
  EXPECT_EQ(mx_test(a_, &receive, nullptr, &result), MX_SUCCESS);
  EXPECT_EQ(result, 0U);
}

TEST_F(Connect, infinite_request_timeouts_are_infinite) {
  for (const std::uint32_t ms : {std::uint32_t{MX_INFINITE}, 0xffffffffU}) {
    const Bytes data = pattern(10);
    mx_request_t sent = send_sync(a_, to_b_, data, 1);
    EXPECT_EQ(mx_set_request_timeout(a_, sent, ms), MX_SUCCESS);
    std::uint32_t result = 1;
    EXPECT_EQ(mx_wait(a_, &sent, 700, nullptr, &result), MX_SUCCESS);
    EXPECT_EQ(result, 0U);
    Bytes buffer(10);
    finish_both(b_, post(b_, buffer, 1), a_, sent);
  }
}

// 8, 10: a thread that waits for anything does not take another thread's connect.
TEST_F(Connect, blocking_is_invisible_to_others) {
  std::atomic<std::uint32_t> taken{0};
  const Background thief([&] {
    std::uint32_t result = 0;
    mx_status_t status;
    mx_request_t request;
    mx_test_any(a_, 0, 0, &status, &result);
    taken += result;
    mx_ipeek(a_, &request, &result);
    taken += result;
  });
  mx_endpoint_addr_t addr{};
  for (int i = 0; i < 20; i++) EXPECT_EQ(connect_to(b_, kKey, kLongMs, &addr), MX_SUCCESS);
  EXPECT_EQ(taken, 0U);
}

// The memory of a send belongs to the application again when its request has ended, however it ended.
TEST_F(Connect, a_large_message_whose_send_has_ended_is_not_received_from_reused_memory) {
  const Bytes original = pattern(1'000'000);
  for (const bool closes : {false, true}) {
    Bytes data = original;
    mx_request_t sent = send(a_, to_b_, data, 1);
    ASSERT_TRUE(drive_until([&] { return unexpected_waits(b_); }));
    if (closes) {
      ASSERT_EQ(mx_close_endpoint(a_), MX_SUCCESS);
      a_ = open(0);
    } else {
      ASSERT_EQ(mx_disconnect(a_, to_b_), MX_SUCCESS);
      EXPECT_NE(finish(a_, sent).code, MX_STATUS_SUCCESS);
    }
    std::fill(data.begin(), data.end(), 0xbd);
    Bytes buffer(data.size());
    EXPECT_EQ(mx_set_request_timeout(b_, nullptr, 200), MX_SUCCESS);
    // Or b_ has noticed and forgotten the message. Then nothing comes.
    mx_request_t receive = post(b_, buffer, 1);
    mx_status_t status{};
    std::uint32_t done = 0;
    EXPECT_EQ(mx_wait(b_, &receive, 1000, &status, &done), MX_SUCCESS);
    if (done)
      EXPECT_TRUE(status.code != MX_STATUS_SUCCESS || buffer == original);
    else
      EXPECT_EQ(mx_cancel(b_, &receive, &done), MX_SUCCESS);
    to_b_ = connect(a_, b_);
  }
}

}  // namespace
}  // namespace omx::mx_tests
