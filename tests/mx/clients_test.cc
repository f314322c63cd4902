// SPDX-License-Identifier: BSD-3-Clause
// Habits of MX programs that no other test covers (docs/spec/mx-clients.md). docs/reference/mx-programs.md
// says which test covers which point.
#include "mx_internals/mx__driver_interface.h"
#include "mx_pair.h"

namespace omx::mx_tests {
namespace {

class Clients : public Pair {
 protected:
  static bool local() { return std::getenv("OMX_TEST_LOCAL"); }
  // Restarts the library with another environment, as a client would.
  void restart(const std::map<std::string, std::string>& variables) {
    mx_finalize();
    for (const auto& [name, value] : variables) environment_.set(name, value);
    ASSERT_EQ(mx_init(), MX_SUCCESS);
    a_ = open(0);
    b_ = open(1);
    ASSERT_TRUE(a_ && b_);
    to_b_ = connect(a_, b_);
  }
  static std::uint32_t session(mx_endpoint_addr_t addr) {
    std::uint32_t value = 0;
    EXPECT_EQ(mx_decompose_endpoint_addr2(addr, nullptr, nullptr, &value), MX_SUCCESS);
    return value;
  }
};

// 1: with a handler that is set before mx_init, errors return. A program that tries again long enough
// connects at last.
TEST_F(Clients, connect_is_tried_again_until_the_peer_is_there) {
  mx_finalize();
  mx_set_error_handler(MX_ERRORS_RETURN);
  ASSERT_EQ(mx_init(), MX_SUCCESS);
  a_ = open(0);
  // At first no endpoint answers for that board, then another one does, and then the right one.
  std::uint64_t nic_of_b = 0;
  ASSERT_EQ(mx_board_number_to_nic_id(1, &nic_of_b), MX_SUCCESS);
  mx_endpoint_addr_t addr{};
  // On one host, the library knows that the endpoint is closed. By UDP the peer's kernel says so, unless
  // that message is lost. A broker knows its endpoints.
  for (int i = 0; i < 3; i++) {
    const mx_return_t code = mx_connect(a_, nic_of_b, 7, kKey, 5, &addr);
    EXPECT_TRUE(code == MX_CONNECTION_FAILED ? by_udp() || by_broker() || local()
                                             : code == MX_TIMEOUT && !local())
        << code;
  }
  b_ = open(1, 6);
  const Background other([this] { mx_progress(b_); });
  mx_return_t code = MX_SUCCESS;
  EXPECT_TRUE(becomes_true([&] {
    code = mx_connect(a_, nic_of_b, 7, kKey, 500, &addr);
    return code != MX_TIMEOUT;
  }));
  EXPECT_EQ(code, MX_CONNECTION_FAILED);
  const mx_endpoint_t late = open(1, 7);
  const Background progress([late] { mx_progress(late); });
  EXPECT_TRUE(becomes_true([&] {
    code = mx_connect(a_, nic_of_b, 7, kKey, 500, &addr);
    return code == MX_SUCCESS;
  }));
  EXPECT_TRUE(same(addr, address(late)));
}

// 2: p0 waits on rail 0 for a message that p1 sends when p0's rail 1 has answered it. No call drives rail 1.
TEST_F(Clients, connect_is_answered_on_a_rail_that_nobody_polls) {
  restart({{"OMX_PROGRESS", "auto"}});
  const mx_endpoint_t other_rail_of_a = open(0), other_rail_of_b = open(1);
  const mx_endpoint_addr_t to_a = connect(b_, a_);
  Bytes buffer(10);
  mx_request_t receive = post(a_, buffer, 1);
  std::uint32_t arrived = 0;
  std::thread p0([&] { EXPECT_EQ(mx_wait(a_, &receive, kLongMs, nullptr, &arrived), MX_SUCCESS); });
  mx_endpoint_addr_t addr{};
  EXPECT_EQ(mx_connect(other_rail_of_b, nic(other_rail_of_a), id(other_rail_of_a), kKey, kLongMs, &addr),
            MX_SUCCESS);
  send_forgotten(b_, to_a, pattern(10), 1);
  p0.join();
  EXPECT_EQ(arrived, 1U);
  EXPECT_EQ(buffer, pattern(10));
}

// 2: both processes only compute.
TEST_F(Clients, connect_is_answered_while_the_peer_computes) {
  restart({{"OMX_PROGRESS", "auto"}});
  const mx_endpoint_t later = open(1);
  mx_endpoint_addr_t addr{};
  EXPECT_EQ(mx_connect(a_, nic(later), id(later), kKey, kLongMs, &addr), MX_SUCCESS);
}

// 3: the third variable with the same meaning.
TEST_F(Clients, disabled_shared_memory_carries_nothing_and_all_arrives) {
  restart({{"MX_DISABLE_SHMEM", "1"}, {"MX_DISABLE_SELF", "1"}});
  const mx_endpoint_addr_t self = connect(a_, a_);
  for (const std::size_t size : {0, 30, 3000, 300000}) {
    for (const mx_endpoint_t to : {a_, b_}) {
      Bytes buffer(size);
      finish_both(to, post(to, buffer, 1), a_, send(a_, to == a_ ? self : to_b_, pattern(size), 1));
      EXPECT_EQ(buffer, pattern(size));
    }
  }
}

// 4: blocking connects towards each other. Afterwards both ends name one session of each.
TEST_F(Clients, blocking_connects_towards_each_other) {
  for (int round = 0; round < 10; round++) {
    const mx_endpoint_t x = open(0), y = open(1);
    const std::uint64_t nic_x = nic(x), nic_y = nic(y);
    mx_endpoint_addr_t of_y{}, of_x{};
    // The first one goes on answering, as a program does in its next call.
    std::atomic<bool> y_connected{false}, end{false};
    std::thread other([&] {
      EXPECT_EQ(mx_connect(y, nic_x, id(x), kKey, kLongMs, &of_x), MX_SUCCESS);
      y_connected = true;
      while (!end) mx_progress(y);
    });
    EXPECT_EQ(mx_connect(x, nic_y, id(y), kKey, kLongMs, &of_y), MX_SUCCESS);
    while (!y_connected) mx_progress(x);
    end = true;
    other.join();
    others_ = {x, y};
    EXPECT_EQ(session(of_x), session(address(x)));
    EXPECT_EQ(session(of_y), session(address(y)));
    Bytes at_x(10), at_y(10);
    mx_request_t receive = post(y, at_y, 1);
    mx_request_t sent = send(x, of_y, pattern(10, 1), 1);
    const mx_status_t status = finish(y, receive);
    finish(x, sent);
    EXPECT_EQ(session(status.source), session(of_x));
    receive = post(x, at_x, 2);
    sent = send(y, status.source, pattern(10, 2), 2);
    EXPECT_EQ(finish(x, receive).code, MX_STATUS_SUCCESS);
    finish(y, sent);
    EXPECT_EQ(at_y, pattern(10, 1));
    EXPECT_EQ(at_x, pattern(10, 2));
    others_.clear();
    mx_close_endpoint(x);
    mx_close_endpoint(y);
  }
}

// 5: these codes tell OrangeFS that its server was restarted, or is gone.
TEST_F(Clients, the_old_address_of_a_restarted_peer_is_refused) {
  const std::uint32_t its_id = id(b_);
  EXPECT_EQ(mx_close_endpoint(b_), MX_SUCCESS);
  b_ = open(1, its_id + 1);  // an endpoint that answers for the board
  const Bytes data = pattern(10);
  // By UDP no process answers for a closed endpoint, and the answer of its kernel ends no connection
  // (docs/explanation/security.md).
  const mx_status_code_t gone =
      by_udp() && !local() ? MX_STATUS_ENDPOINT_UNREACHABLE : MX_STATUS_ENDPOINT_CLOSED;
  EXPECT_EQ(finish(a_, send_sync(a_, to_b_, data, 1)).code, gone);
  EXPECT_EQ(mx_close_endpoint(b_), MX_SUCCESS);
  b_ = open(1, its_id);
  EXPECT_THAT(finish(a_, send_sync(a_, to_b_, data, 1)).code, testing::AnyOf(MX_STATUS_BAD_SESSION, gone));
  const mx_endpoint_addr_t before = to_b_;
  to_b_ = connect(a_, b_);
  EXPECT_NE(session(to_b_), session(before));
  EXPECT_EQ(finish(a_, send(a_, before, data, 1)).code, MX_STATUS_BAD_SESSION);
}

// 8: test completes at once what peek shows. That holds for connects and sends too, in the order of
// completion.
TEST_F(Clients, what_peek_shows_is_complete) {
  std::vector<Bytes> buffers(30, Bytes(5000));
  std::vector<mx_request_t> posted;
  for (unsigned i = 0; i < 30; i++)
    posted.push_back(post(b_, buffers[i], i, MX_MATCH_MASK_NONE, i % 2 ? &buffers[i] : nullptr));
  for (unsigned i = 0; i < 30; i++) send_forgotten(a_, to_b_, pattern(i * 160, i), i);
  for (unsigned left = 30; left > 0; left--) {
    mx_request_t shown = nullptr;
    std::uint32_t result = 0;
    ASSERT_TRUE(drive_until([&] { return mx_ipeek(b_, &shown, &result) == MX_SUCCESS && result; }));
    mx_status_t status{};
    result = 0;
    EXPECT_EQ(mx_test(b_, &shown, &status, &result), MX_SUCCESS);
    ASSERT_EQ(result, 1U);
    const std::size_t i = status.match_info;
    EXPECT_EQ(i, 30 - left);  // the messages of one sender come in its order
    EXPECT_EQ(status.context, i % 2 ? static_cast<void*>(&buffers[i]) : nullptr);
  }
}

// 9: a program that reads the result after an error reads 0.
TEST_F(Clients, cancel_writes_its_result_even_after_an_error) {
  std::uint32_t result = 7;
  mx_request_t none = nullptr;
  EXPECT_NE(mx_cancel(a_, &none, &result), MX_SUCCESS);
  EXPECT_EQ(result, 0U);
  Bytes buffer(10);
  mx_request_t receive = post(b_, buffer, 1);
  const mx_request_t stale = receive;
  finish_both(b_, receive, a_, send(a_, to_b_, pattern(10), 1));
  mx_request_t again = stale;
  result = 7;
  EXPECT_NE(mx_cancel(b_, &again, &result), MX_SUCCESS);
  EXPECT_EQ(result, 0U);
}

// 11: OrangeFS finds its peer by the source of every message, also in the handler.
TEST_F(Clients, source_leads_to_the_peer_in_the_handler_too) {
  int peer = 0;
  Bytes buffer(10);
  mx_request_t first = post(b_, buffer, 1);
  send_forgotten(a_, to_b_, pattern(10), 1);
  EXPECT_EQ(mx_set_endpoint_addr_context(finish(b_, first).source, &peer), MX_SUCCESS);
  static std::vector<void*> seen;
  seen.clear();
  const auto handler = [](void*, mx_endpoint_addr_t source, std::uint64_t, std::uint32_t, void*) {
    void* context = nullptr;
    EXPECT_EQ(mx_get_endpoint_addr_context(source, &context), MX_SUCCESS);
    seen.push_back(context);
    return MX_RECV_CONTINUE;
  };
  EXPECT_EQ(mx_register_unexp_handler(b_, handler, nullptr), MX_SUCCESS);
  for (const std::size_t size : {0, 100, 10000, 100000}) {
    const Bytes data = pattern(size);
    mx_request_t sent = send(a_, to_b_, data, 2);
    ASSERT_TRUE(drive_until([&] { return unexpected_waits(b_); }));
    Bytes room(size);
    void* context = nullptr;
    mx_request_t receive = post(b_, room, 2);
    EXPECT_EQ(mx_get_endpoint_addr_context(finish(b_, receive).source, &context), MX_SUCCESS);
    EXPECT_EQ(context, &peer);
    finish(a_, sent);
  }
  EXPECT_EQ(seen, std::vector<void*>(4, &peer));
}

// 15: LIGO waits in slices until the message is there.
TEST_F(Clients, waiting_in_slices) {
  Bytes buffer(10);
  mx_request_t receive = post(b_, buffer, 1, MX_MATCH_MASK_NONE, &buffer);
  mx_status_t status{};
  std::uint32_t result = 0;
  for (int slice = 0; slice < 5; slice++) {
    EXPECT_EQ(mx_wait(b_, &receive, 5, &status, &result), MX_SUCCESS);
    EXPECT_EQ(result, 0U);
    EXPECT_NE(receive, nullptr);
  }
  send_forgotten(a_, to_b_, pattern(10), 1);
  const Background other([this] { mx_progress(a_); });
  while (!result) ASSERT_EQ(mx_wait(b_, &receive, 5, &status, &result), MX_SUCCESS);
  EXPECT_EQ(status.context, &buffer);
  EXPECT_EQ(buffer, pattern(10));
}

// 18: with LIGO's millisecond, exchanges with a peer that is there succeed, and receives wait indefinitely.
TEST_F(Clients, a_timeout_of_a_millisecond_for_all_requests) {
  EXPECT_EQ(mx_set_request_timeout(a_, nullptr, 1), MX_SUCCESS);
  EXPECT_EQ(mx_set_request_timeout(b_, nullptr, 1), MX_SUCCESS);
  Bytes late(10);
  mx_request_t unmatched = post(b_, late, 99);
  const Background other([this] { mx_progress(b_); });
  for (const std::size_t size : {10, 10000}) {
    Bytes buffer(size);
    mx_request_t receive = post(b_, buffer, 1);
    mx_request_t sent = send(a_, to_b_, pattern(size), 1);
    mx_status_t status{};
    std::uint32_t result = 0;
    EXPECT_EQ(mx_wait(b_, &receive, kLongMs, &status, &result), MX_SUCCESS);
    EXPECT_EQ(result, 1U);
    EXPECT_EQ(status.code, MX_STATUS_SUCCESS);
    EXPECT_EQ(buffer, pattern(size));
    finish(a_, sent);
  }
  drive_for(50);
  std::uint32_t result = 7;
  EXPECT_EQ(mx_test(b_, &unmatched, nullptr, &result), MX_SUCCESS);
  EXPECT_EQ(result, 0U);
  EXPECT_EQ(mx_cancel(b_, &unmatched, &result), MX_SUCCESS);
  EXPECT_EQ(result, 1U);
}

// 19: programs call it from any thread, whatever the library does at the time, and also after mx_finalize.
TEST_F(Clients, regcache_clean_at_any_time) {
  {
    const Background cleaner([this] { EXPECT_EQ(mx__regcache_clean(this, sizeof *this), 0); });
    for (unsigned i = 0; i < 50; i++) {
      const std::size_t size = std::size_t{1} << i % 20;
      Bytes buffer(size);
      finish_both(b_, post(b_, buffer, 1), a_, send(a_, to_b_, pattern(size, i), 1));
      EXPECT_EQ(buffer, pattern(size, i));
    }
    mx_finalize();
  }
  EXPECT_EQ(mx__regcache_clean(this, 1), 0);
}

// 20: the variable has the name that OrangeFS sets.
TEST_F(Clients, without_buffered_sends_by_the_older_name) {
  restart({{"MX_ZOMBIE", "0"}});
  EXPECT_EQ(mx_disable_progression(b_), MX_SUCCESS);
  const Bytes data = pattern(10);
  mx_request_t sent = send(a_, to_b_, data, 1);
  std::uint32_t result = 7;
  EXPECT_EQ(mx_wait(a_, &sent, 100, nullptr, &result), MX_SUCCESS);
  EXPECT_EQ(result, 0U);
  EXPECT_EQ(mx_reenable_progression(b_), MX_SUCCESS);
  EXPECT_EQ(finish(a_, sent).code, MX_STATUS_SUCCESS);
}

// 26: MPICH uses this size as its eager limit, and puts its header into it.
TEST_F(Clients, copied_sends_hold_more_than_a_header) {
  std::uint32_t most = 0;
  EXPECT_EQ(mx_get_info(a_, MX_COPY_SEND_MAX, nullptr, 0, &most, sizeof most), MX_SUCCESS);
  EXPECT_GE(most, 1024U);
  const Bytes data = pattern(most);
  mx_request_t sent = send(a_, to_b_, data, 1);
  std::uint32_t result = 0;
  EXPECT_EQ(mx_buffered(a_, &sent, kLongMs, &result), MX_SUCCESS);
  EXPECT_EQ(result, 1U);
  Bytes buffer(most);
  finish_both(b_, post(b_, buffer, 1), a_, sent);
}

// 27: each thread sleeps in its own wait, and only its own message wakes it.
TEST_F(Clients, thirty_two_threads_each_wait_for_their_own) {
  constexpr unsigned kThreads = 32;
  std::vector<mx_endpoint_t> endpoints(kThreads);
  std::vector<Bytes> buffers(kThreads, Bytes(100));
  std::vector<std::thread> threads;
  std::atomic<unsigned> opened{0}, woken{0};
  for (unsigned i = 0; i < kThreads; i++) {
    threads.emplace_back([&, i] {
      endpoints[i] = open(1);
      mx_request_t receive = post(endpoints[i], buffers[i], i);
      opened++;
      mx_status_t status{};
      std::uint32_t result = 0;
      EXPECT_EQ(mx_wait(endpoints[i], &receive, MX_INFINITE, &status, &result), MX_SUCCESS);
      EXPECT_EQ(result, 1U);
      EXPECT_EQ(status.match_info, i);
      woken++;
    });
  }
  while (opened < kThreads) std::this_thread::yield();
  for (unsigned i = 0; i < kThreads; i++) {
    EXPECT_EQ(woken, i);
    mx_endpoint_addr_t addr{};
    EXPECT_EQ(mx_connect(a_, nic(endpoints[i]), id(endpoints[i]), kKey, kLongMs, &addr), MX_SUCCESS);
    send_forgotten(a_, addr, pattern(100, i), i);
    threads[i].join();
    EXPECT_EQ(buffers[i], pattern(100, i));
  }
  EXPECT_EQ(woken, kThreads);
}

// A client takes the address of mx_test, so it is a function and no macro.
TEST_F(Clients, test_is_a_function_with_an_address) {
  mx_return_t (*const function)(mx_endpoint_t, mx_request_t*, mx_status_t*, std::uint32_t*) = &mx_test;
  Bytes buffer(10);
  mx_request_t receive = post(b_, buffer, 1);
  std::uint32_t result = 7;
  EXPECT_EQ(function(b_, &receive, nullptr, &result), MX_SUCCESS);
  EXPECT_EQ(result, 0U);
  static_assert(MX_API >= 0x301);
}

}  // namespace
}  // namespace omx::mx_tests
