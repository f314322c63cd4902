// SPDX-License-Identifier: BSD-3-Clause
// Endpoints of one or several processes, permissions, threads (docs/spec/mx-clients.md 25, 27, 28).
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <linux/capability.h>

#include <cstdlib>

#include "mx_pair.h"

namespace omx::mx_tests {
namespace {

using testing::HasSubstr;

class Endpoints : public Initialised {
 protected:
  static std::pair<std::uint32_t, std::uint32_t> place(mx_endpoint_t endpoint) {
    mx_endpoint_addr_t own{};
    std::uint64_t nic = 0;
    std::uint32_t id = 0, board = 0;
    EXPECT_EQ(mx_get_endpoint_addr(endpoint, &own), MX_SUCCESS);
    EXPECT_EQ(mx_decompose_endpoint_addr(own, &nic, &id), MX_SUCCESS);
    EXPECT_EQ(mx_nic_id_to_board_number(nic, &board), MX_SUCCESS);
    return {board, id};
  }
};

// 25
TEST_F(Endpoints, any_id_counts_from_zero) {
  for (std::uint32_t expected = 0; expected < 8; expected++)
    EXPECT_EQ(place(open(0)), std::pair(0U, expected));
}

TEST_F(Endpoints, any_board_takes_turns) {
  EXPECT_EQ(place(open(MX_ANY_NIC)), std::pair(0U, 0U));
  EXPECT_EQ(place(open(MX_ANY_NIC)), std::pair(1U, 0U));
  EXPECT_EQ(place(open(MX_ANY_NIC)), std::pair(0U, 1U));
}

// 25: two per process and core of a large host.
TEST_F(Endpoints, many) {
  environment_.set("OMX_ENDPOINTS_MAX", "64");
  mx_finalize();
  ASSERT_EQ(mx_init(), MX_SUCCESS);
  std::uint32_t most = 0;
  EXPECT_EQ(mx_get_info(nullptr, MX_MAX_NATIVE_ENDPOINTS, nullptr, 0, &most, sizeof most), MX_SUCCESS);
  ASSERT_EQ(most, 64U);
  for (std::uint32_t i = 0; i < most; i++) ASSERT_TRUE(open(0));
  mx_endpoint_t one_more = nullptr;
  EXPECT_EQ(mx_open_endpoint(0, MX_ANY_ENDPOINT, kKey, nullptr, 0, &one_more), MX_BUSY);
}

// 28
TEST_F(Endpoints, process_that_ends_without_closing_frees_its_ids) {
  mx_finalize();
  for (int i = 0; i < 3; i++) {
    EXPECT_EQ(in_child([] {
                mx_endpoint_t endpoint = nullptr;
                return mx_init() != MX_SUCCESS ||
                       mx_open_endpoint(0, 5, kKey, nullptr, 0, &endpoint) != MX_SUCCESS;
              }),
              0);
  }
  ASSERT_EQ(mx_init(), MX_SUCCESS);
  EXPECT_TRUE(open(0, 5));
}

// A progress thread would go on with messages whose memory exit() destroys.
TEST_F(Endpoints, exit__ends_the_progress_threads_of_open_endpoints) {
  environment_.set("OMX_PROGRESS", "always");
  mx_finalize();
  EXPECT_EQ(in_child([] {
              // The function that is registered first is called last.
              const auto ends = [] {
                // A thread that was joined leaves /proc a little later.
                ::_exit(becomes_true([] { return link::progress_threads() == 0; }) ? 0 : 94);
              };
              if (std::atexit(ends) != 0) return 96;
              mx_endpoint_t endpoint = nullptr;
              if (mx_init() != MX_SUCCESS) return 97;
              if (mx_open_endpoint(0, 5, kKey, nullptr, 0, &endpoint) != MX_SUCCESS) return 98;
              if (!becomes_true([] { return link::progress_threads() == 1; })) return 99;
              std::exit(95);
            }),
            0);
}

// Without CAP_NET_RAW the sentence names the capability and how to get it.
TEST_F(Endpoints, missing_capability_is_no_perm) {
  OMX_SKIP_BY_UDP();
  OMX_SKIP_BY_BROKER();
  mx_finalize();
  EXPECT_EQ(in_child([] {
              __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
              __user_cap_data_struct none[2] = {};
              if (::syscall(SYS_capset, &header, none) != 0) return 2;
              g_handled.clear();
              mx_endpoint_t endpoint = nullptr;
              if (mx_init() != MX_SUCCESS) return 3;
              if (mx_open_endpoint(0, MX_ANY_ENDPOINT, kKey, nullptr, 0, &endpoint) != MX_NO_PERM) return 4;
              return g_handled.size() == 1 && g_handled[0].text.find("CAP_NET_RAW") != std::string::npos ? 0
                                                                                                         : 5;
            }),
            0);
}

TEST_F(Endpoints, closed_twice) {
  const mx_endpoint_t endpoint = open(0);
  EXPECT_EQ(mx_close_endpoint(endpoint), MX_SUCCESS);
  EXPECT_EQ(mx_close_endpoint(endpoint), MX_BAD_ENDPOINT);
}

TEST_F(Endpoints, closing_ends_the_waits_of_others) {
  const mx_endpoint_t endpoint = open(0);
  std::atomic<bool> waiting{false};
  std::thread waiter([&] {
    std::uint32_t result = 7;
    waiting = true;
    EXPECT_EQ(mx_wait_any(endpoint, kLongMs, 0, 0, nullptr, &result), MX_SUCCESS);
    EXPECT_EQ(result, 0U);
  });
  while (!waiting) std::this_thread::yield();
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_EQ(mx_close_endpoint(endpoint), MX_SUCCESS);
  waiter.join();
}

// 27
TEST_F(Endpoints, each_thread_has_its_own) {
  constexpr unsigned kThreads = 8;
  constexpr unsigned kRounds = 20;
  std::vector<mx_endpoint_addr_t> addresses(kThreads);
  std::vector<std::uint64_t> nics(kThreads);
  std::vector<std::uint32_t> ids(kThreads);
  std::atomic<unsigned> opened{0}, finished{0};
  const auto body = [&](unsigned me) {
    const mx_endpoint_t endpoint = open(me % 2);
    mx_endpoint_addr_t own{}, next{};
    mx_get_endpoint_addr(endpoint, &own);
    mx_decompose_endpoint_addr(own, &nics[me], &ids[me]);
    opened++;
    while (opened < kThreads) std::this_thread::yield();
    // A thread answers others while it waits for its own answer. No thread outside a call is needed.
    const unsigned peer = (me + 1) % kThreads;
    mx_request_t connecting = nullptr;
    EXPECT_EQ(mx_iconnect(endpoint, nics[peer], ids[peer], kKey, 0, nullptr, &connecting), MX_SUCCESS);
    mx_status_t status{};
    std::uint32_t result = 0;
    EXPECT_EQ(mx_wait(endpoint, &connecting, kLongMs, &status, &result), MX_SUCCESS);
    ASSERT_EQ(result, 1U);
    next = status.source;
    for (unsigned round = 0; round < kRounds; round++) {
      Bytes data = pattern(round * 500, me), buffer(round * 500);
      mx_segment_t out = {data.data(), static_cast<std::uint32_t>(data.size())};
      mx_segment_t in = {buffer.data(), static_cast<std::uint32_t>(buffer.size())};
      mx_request_t sent = nullptr, receive = nullptr;
      EXPECT_EQ(mx_irecv(endpoint, &in, 1, round, MX_MATCH_MASK_NONE, nullptr, &receive), MX_SUCCESS);
      EXPECT_EQ(mx_isend(endpoint, &out, 1, next, round, nullptr, &sent), MX_SUCCESS);
      EXPECT_EQ(mx_wait(endpoint, &receive, kLongMs, &status, &result), MX_SUCCESS);
      EXPECT_EQ(result, 1U);
      EXPECT_EQ(buffer, pattern(round * 500, (me + kThreads - 1) % kThreads));
      EXPECT_EQ(mx_wait(endpoint, &sent, kLongMs, &status, &result), MX_SUCCESS);
      EXPECT_EQ(result, 1U);
    }
    finished++;
    while (finished < kThreads) mx_progress(endpoint);
    EXPECT_EQ(mx_close_endpoint(endpoint), MX_SUCCESS);
  };
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < kThreads; i++) threads.emplace_back(body, i);
  for (std::thread& thread : threads) thread.join();
}

// Threads share one endpoint: every message is completed exactly once.
class SharedEndpoint : public Pair {};

TEST_F(SharedEndpoint, each_message_completes_once) {
  constexpr unsigned kMessages = 500;
  std::vector<std::atomic<int>> seen(kMessages);
  Bytes buffer(1);
  for (unsigned i = 0; i < kMessages; i++) post(b_, buffer, i, MX_MATCH_MASK_NONE, &seen[i]);
  std::atomic<unsigned> total{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; i++) {
    threads.emplace_back([&] {
      while (total < kMessages) {
        mx_status_t status{};
        std::uint32_t result = 0;
        EXPECT_EQ(mx_wait_any(b_, 20, 0, 0, &status, &result), MX_SUCCESS);
        if (!result) continue;
        ++*static_cast<std::atomic<int>*>(status.context);
        total++;
      }
    });
  }
  const Bytes one(1);
  for (unsigned i = 0; i < kMessages; i++) send_forgotten(a_, to_b_, one, i);
  while (total < kMessages) mx_progress(a_);
  for (std::thread& thread : threads) thread.join();
  for (const auto& count : seen) EXPECT_EQ(count, 1);
}

}  // namespace
}  // namespace omx::mx_tests
