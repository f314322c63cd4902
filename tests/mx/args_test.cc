// SPDX-License-Identifier: BSD-3-Clause
// Wrong arguments, and calls at the wrong time, get the right code and do no harm.
#include <limits>

#include "mx_internals/mx__driver_interface.h"
#include "mx_internals/mx__fops.h"
#include "mx_pair.h"
#include "mx_raw.h"

namespace omx::mx_tests {
namespace {

using testing::HasSubstr;

// --- before init and after finalize ---

class Uninitialised : public testing::Test {
 protected:
  void SetUp() override {
    g_handled.clear();
    mx_set_error_handler(recording_handler);
  }
  void TearDown() override { mx_set_error_handler(nullptr); }
};

TEST_F(Uninitialised, every_call_says_so) {
  mx_endpoint_t ep = nullptr;
  mx_request_t request = nullptr;
  mx_endpoint_addr_t addr{};
  mx_status_t status;
  std::uint32_t number;
  std::uint64_t nic;
  char name[MX_MAX_HOSTNAME_LEN] = "host";
  void* context;
  EXPECT_EQ(mx_board_number_to_nic_id(0, &nic), MX_NOT_INITIALIZED);
  EXPECT_EQ(mx_nic_id_to_board_number(1, &number), MX_NOT_INITIALIZED);
  EXPECT_EQ(mx_hostname_to_nic_id(name, &nic), MX_NOT_INITIALIZED);
  EXPECT_EQ(mx_nic_id_to_hostname(1, name), MX_NOT_INITIALIZED);
  EXPECT_EQ(mx_get_info(nullptr, MX_NIC_COUNT, nullptr, 0, &number, sizeof number), MX_NOT_INITIALIZED);
  EXPECT_EQ(mx_open_endpoint(0, 0, 0, nullptr, 0, &ep), MX_NOT_INITIALIZED);
  EXPECT_EQ(mx_close_endpoint(ep), MX_NOT_INITIALIZED);
  EXPECT_EQ(mx_wakeup(ep), MX_NOT_INITIALIZED);
  EXPECT_EQ(mx_progress(ep), MX_NOT_INITIALIZED);
  EXPECT_EQ(mx_connect(ep, 1, 0, 0, 0, &addr), MX_NOT_INITIALIZED);
  EXPECT_EQ(mx_iconnect(ep, 1, 0, 0, 0, nullptr, &request), MX_NOT_INITIALIZED);
  EXPECT_EQ(mx_disconnect(ep, addr), MX_NOT_INITIALIZED);
  EXPECT_EQ(mx_isend(ep, nullptr, 0, addr, 0, nullptr, &request), MX_NOT_INITIALIZED);
  EXPECT_EQ(mx_irecv(ep, nullptr, 0, 0, 0, nullptr, &request), MX_NOT_INITIALIZED);
  EXPECT_EQ(mx_test(ep, &request, &status, &number), MX_NOT_INITIALIZED);
  EXPECT_EQ(mx_wait_any(ep, 1, 0, 0, &status, &number), MX_NOT_INITIALIZED);
  EXPECT_EQ(mx_set_endpoint_addr_context(addr, nullptr), MX_NOT_INITIALIZED);
  EXPECT_EQ(mx_get_endpoint_addr_context(addr, &context), MX_NOT_INITIALIZED);
  EXPECT_EQ(mx_context(&request, &context), MX_NOT_INITIALIZED);
  EXPECT_EQ(g_handled.size(), 19U);
  for (const HandledError& error : g_handled) EXPECT_THAT(error.text, HasSubstr("not initialized"));
}

TEST_F(Uninitialised, finalize_is_harmless) {
  EXPECT_EQ(mx_finalize(), MX_NOT_INITIALIZED);
  EXPECT_TRUE(g_handled.empty());
}

TEST_F(Uninitialised, other_major_versions_are_refused) {
  for (const int api : {0, 0x100, 0x201, 0x401, -1, 0x10301})
    EXPECT_EQ(mx__init_api(api), MX_BAD_LIB_VERSION) << api;
}

TEST_F(Uninitialised, raw_calls_return_without_the_handler) {
  mx_raw_endpoint_t raw = nullptr;
  EXPECT_EQ(mx_raw_open_endpoint(0, nullptr, 0, &raw), MX_NOT_INITIALIZED);
  EXPECT_EQ(mx_raw_close_endpoint(nullptr), MX_BAD_ENDPOINT);
  EXPECT_EQ(mx_raw_handle(nullptr), MX__INVALID_HANDLE);
  EXPECT_TRUE(g_handled.empty());
}

// Programs call this function from inside malloc at any time (docs/spec/mx-clients.md 19).
TEST_F(Uninitialised, regcache_clean_works) {
  EXPECT_EQ(mx__regcache_clean(nullptr, 0), 0);
  EXPECT_EQ(mx__regcache_clean(this, std::numeric_limits<std::size_t>::max()), 0);
}

// --- settings ---

class Init : public CableOnly {};

TEST_F(Init, twice_is_reported_and_harmless) {
  EXPECT_EQ(mx_init(), MX_SUCCESS);
  EXPECT_EQ(mx_init(), MX_ALREADY_INITIALIZED);
  EXPECT_TRUE(g_handled.empty());
  EXPECT_EQ(mx_finalize(), MX_SUCCESS);
  EXPECT_EQ(mx_finalize(), MX_NOT_INITIALIZED);
  EXPECT_EQ(mx__init_api(0x300), MX_SUCCESS);
}

TEST_F(Init, malformed_setting_is_named) {
  environment_.set("OMX_SPIN_US", "soon");
  EXPECT_EQ(mx_init(), MX_FAILURE);
  ASSERT_EQ(g_handled.size(), 1U);
  EXPECT_THAT(g_handled[0].text, testing::AllOf(HasSubstr("OMX_SPIN_US"), HasSubstr("soon")));
}

TEST_F(Init, unknown_interface_is_named) {
  environment_.set("OMX_INTERFACES", "v0,nosuch");
  EXPECT_NE(mx_init(), MX_SUCCESS);
  ASSERT_EQ(g_handled.size(), 1U);
  EXPECT_THAT(g_handled[0].text, testing::AllOf(HasSubstr("nosuch"), HasSubstr("v1")));
}

TEST_F(Init, no_interface_at_all) {
  link::ip("link del v0");
  environment_.set("OMX_INTERFACES", "");
  EXPECT_EQ(mx_init(), MX_NO_DEV);
}

// --- arguments ---

class Arguments : public Pair {};

TEST_F(Arguments, open_endpoint) {
  mx_endpoint_t ep = nullptr;
  EXPECT_EQ(mx_open_endpoint(0, 3, kKey, nullptr, 0, nullptr), MX_BAD_BAD_BAD);
  EXPECT_EQ(mx_open_endpoint(2, 3, kKey, nullptr, 0, &ep), MX_BOARD_UNKNOWN);
  EXPECT_EQ(mx_open_endpoint(0, 256, kKey, nullptr, 0, &ep), MX_BAD_ENDPOINT);
  EXPECT_EQ(mx_open_endpoint(0, id(a_), kKey, nullptr, 0, &ep), MX_BUSY);
  EXPECT_EQ(mx_open_endpoint(0, 3, kKey, nullptr, 1, &ep), MX_BAD_PARAM_LIST);
  mx_param_t param{};
  param.key = static_cast<mx_param_key_t>(3);
  EXPECT_EQ(mx_open_endpoint(0, 3, kKey, &param, 1, &ep), MX_BAD_PARAM_NAME);
  param.key = MX_PARAM_CONTEXT_ID;
  param.val.context_id = {17, 0};
  EXPECT_EQ(mx_open_endpoint(0, 3, kKey, &param, 1, &ep), MX_BAD_PARAM_VAL);
  param.val.context_id = {16, 49};
  EXPECT_EQ(mx_open_endpoint(0, 3, kKey, &param, 1, &ep), MX_BAD_PARAM_VAL);
  EXPECT_EQ(ep, nullptr);
  param.val.context_id = {16, 48};
  EXPECT_EQ(mx_open_endpoint(0, 3, kKey, &param, 1, &ep), MX_SUCCESS);
  param.key = MX_PARAM_UNEXP_QUEUE_MAX;
  EXPECT_EQ(mx_open_endpoint(0, 4, kKey, &param, 1, &ep), MX_SUCCESS);
}

TEST_F(Arguments, busy_names_the_holder) {
  mx_endpoint_t ep = nullptr;
  g_handled.clear();
  EXPECT_EQ(mx_open_endpoint(0, id(a_), kKey, nullptr, 0, &ep), MX_BUSY);
  ASSERT_EQ(g_handled.size(), 1U);
  EXPECT_THAT(g_handled[0].text, HasSubstr("this process"));
}

TEST_F(Arguments, endpoints_that_are_none) {
  const mx_endpoint_t closed = open(0);
  EXPECT_EQ(mx_close_endpoint(closed), MX_SUCCESS);
  int stack = 0;
  const auto misaligned = reinterpret_cast<mx_endpoint_t>(reinterpret_cast<std::uintptr_t>(a_) + 1);
  for (const mx_endpoint_t bad :
       {static_cast<mx_endpoint_t>(nullptr), closed, reinterpret_cast<mx_endpoint_t>(&stack), misaligned,
        reinterpret_cast<mx_endpoint_t>(std::uintptr_t{1})}) {
    EXPECT_EQ(mx_close_endpoint(bad), MX_BAD_ENDPOINT);
    EXPECT_EQ(mx_progress(bad), MX_BAD_ENDPOINT);
    EXPECT_EQ(mx_irecv(bad, nullptr, 0, 0, 0, nullptr, nullptr), MX_BAD_ENDPOINT);
  }
}

TEST_F(Arguments, segments) {
  Bytes data(8);
  mx_segment_t segments[2] = {{data.data(), 4}, {nullptr, 4}};
  mx_request_t request = nullptr;
  EXPECT_EQ(mx_isend(a_, segments, 257, to_b_, 0, nullptr, &request), MX_BAD_SEG_CNT);
  EXPECT_EQ(mx_isend(a_, nullptr, 1, to_b_, 0, nullptr, &request), MX_BAD_SEG_LIST);
  EXPECT_EQ(mx_isend(a_, segments, 2, to_b_, 0, nullptr, &request), MX_BAD_SEG_MEM);
  EXPECT_EQ(mx_issend(a_, segments, 2, to_b_, 0, nullptr, &request), MX_BAD_SEG_MEM);
  EXPECT_EQ(mx_irecv(a_, segments, 2, 0, 0, nullptr, &request), MX_BAD_SEG_MEM);
  EXPECT_EQ(mx_irecv(a_, segments, 257, 0, 0, nullptr, &request), MX_BAD_SEG_CNT);
  // Together the segments have 4 GiB, of which nothing is read.
  segments[0].segment_length = segments[1].segment_length = 0x80000000;
  segments[1].segment_ptr = data.data();
  EXPECT_EQ(mx_isend(a_, segments, 2, to_b_, 0, nullptr, &request), MX_BAD_SEG_LIST);
  EXPECT_EQ(request, nullptr);
}

TEST_F(Arguments, match_masks) {
  std::uint32_t result = 7;
  EXPECT_EQ(mx_irecv(a_, nullptr, 0, 3, 1, nullptr, nullptr), MX_BAD_MATCH_MASK);
  EXPECT_EQ(mx_test_any(a_, 3, 1, nullptr, &result), MX_BAD_MATCH_MASK);
  EXPECT_EQ(mx_wait_any(a_, 1, 3, 1, nullptr, &result), MX_BAD_MATCH_MASK);
  EXPECT_EQ(mx_iprobe(a_, 3, 1, nullptr, &result), MX_BAD_MATCH_MASK);
  EXPECT_EQ(mx_probe(a_, 1, 3, 1, nullptr, &result), MX_BAD_MATCH_MASK);
  EXPECT_EQ(result, 0U);
}

TEST_F(Arguments, requests_that_are_none) {
  mx_request_t none = nullptr;
  std::uint32_t result = 7;
  void* context = nullptr;
  for (mx_request_t* request : {&none, static_cast<mx_request_t*>(nullptr)}) {
    EXPECT_EQ(mx_test(a_, request, nullptr, &result), MX_BAD_REQUEST);
    EXPECT_EQ(mx_wait(a_, request, 1, nullptr, &result), MX_BAD_REQUEST);
    EXPECT_EQ(mx_forget(a_, request), MX_BAD_REQUEST);
    EXPECT_EQ(mx_ibuffered(a_, request, &result), MX_BAD_REQUEST);
    EXPECT_EQ(mx_buffered(a_, request, 1, &result), MX_BAD_REQUEST);
    EXPECT_EQ(mx_context(request, &context), MX_BAD_REQUEST);
    EXPECT_EQ(result, 7U);
    EXPECT_EQ(mx_cancel(a_, request, &result), MX_BAD_REQUEST);
    EXPECT_EQ(result, 0U);
    result = 7;
  }
}

TEST_F(Arguments, missing_pointers) {
  Bytes buffer(4);
  mx_request_t request = post(a_, buffer, 1);
  EXPECT_EQ(mx_test(a_, &request, nullptr, nullptr), MX_BAD_BAD_BAD);
  EXPECT_EQ(mx_wait(a_, &request, 1, nullptr, nullptr), MX_BAD_BAD_BAD);
  EXPECT_EQ(mx_cancel(a_, &request, nullptr), MX_BAD_BAD_BAD);
  EXPECT_EQ(mx_test_any(a_, 0, 0, nullptr, nullptr), MX_BAD_BAD_BAD);
  EXPECT_EQ(mx_ipeek(a_, nullptr, nullptr), MX_BAD_BAD_BAD);
  EXPECT_EQ(mx_iprobe(a_, 0, 0, nullptr, nullptr), MX_BAD_BAD_BAD);
  EXPECT_EQ(mx_context(&request, nullptr), MX_BAD_BAD_BAD);
  EXPECT_EQ(mx_get_endpoint_addr(a_, nullptr), MX_BAD_BAD_BAD);
  EXPECT_EQ(mx_connect(a_, nic(b_), id(b_), kKey, 1, nullptr), MX_BAD_BAD_BAD);
  EXPECT_EQ(mx_board_number_to_nic_id(0, nullptr), MX_BAD_BAD_BAD);
  EXPECT_EQ(mx_nic_id_to_board_number(1, nullptr), MX_BAD_BAD_BAD);
  EXPECT_EQ(mx_hostname_to_nic_id(nullptr, nullptr), MX_BAD_HOSTNAME_ARGS);
  EXPECT_EQ(mx_nic_id_to_hostname(1, nullptr), MX_BAD_HOSTNAME_ARGS);
  EXPECT_EQ(mx_get_endpoint_addr_context(to_b_, nullptr), MX_BAD_BAD_BAD);
  EXPECT_EQ(mx_decompose_endpoint_addr2(to_b_, nullptr, nullptr, nullptr), MX_SUCCESS);
  std::uint32_t result = 0;
  EXPECT_EQ(mx_cancel(a_, &request, &result), MX_SUCCESS);
  EXPECT_EQ(result, 1U);
}

TEST_F(Arguments, addresses_of_others) {
  mx_endpoint_addr_t garbage;
  std::memset(&garbage, 0xee, sizeof garbage);
  mx_request_t request = nullptr;
  void* context = nullptr;
  EXPECT_EQ(mx_isend(a_, nullptr, 0, garbage, 0, nullptr, &request), MX_BAD_REQUEST);
  EXPECT_EQ(mx_isend(b_, nullptr, 0, to_b_, 0, nullptr, &request), MX_BAD_REQUEST);
  EXPECT_EQ(mx_disconnect(b_, to_b_), MX_BAD_ENDPOINT);
  EXPECT_EQ(mx_set_endpoint_addr_context(garbage, nullptr), MX_BAD_ENDPOINT);
  EXPECT_EQ(mx_get_endpoint_addr_context(garbage, &context), MX_BAD_ENDPOINT);
  EXPECT_EQ(mx_get_endpoint_addr_context(mx_endpoint_addr_t{}, &context), MX_BAD_ENDPOINT);
  mx_close_endpoint(a_);
  EXPECT_EQ(mx_get_endpoint_addr_context(to_b_, &context), MX_BAD_ENDPOINT);
}

// Expects that every call which names a request refuses it with the endpoint.
void refused_everywhere(mx_endpoint_t endpoint, mx_request_t request) {
  std::uint32_t result = 7;
  mx_request_t named = request;
  EXPECT_EQ(mx_test(endpoint, &named, nullptr, &result), MX_BAD_REQUEST);
  EXPECT_EQ(result, 0U);
  EXPECT_EQ(mx_wait(endpoint, &named, MX_INFINITE, nullptr, &result), MX_BAD_REQUEST);
  EXPECT_EQ(mx_cancel(endpoint, &named, &result), MX_BAD_REQUEST);
  EXPECT_EQ(mx_forget(endpoint, &named), MX_BAD_REQUEST);
  EXPECT_EQ(mx_ibuffered(endpoint, &named, &result), MX_BAD_REQUEST);
  EXPECT_EQ(mx_buffered(endpoint, &named, 10, &result), MX_BAD_REQUEST);
  EXPECT_EQ(mx_set_request_timeout(endpoint, named, 1000), MX_BAD_REQUEST);
  EXPECT_EQ(named, request);
}

TEST_F(Arguments, requests_of_others) {
  unsigned char byte = 0;
  mx_segment_t segment{&byte, 1};
  mx_request_t request = nullptr;
  ASSERT_EQ(mx_irecv(a_, &segment, 1, 5, MX_MATCH_MASK_NONE, nullptr, &request), MX_SUCCESS);
  refused_everywhere(b_, request);
  std::uint32_t result = 0;
  EXPECT_EQ(mx_cancel(a_, &request, &result), MX_SUCCESS);
  EXPECT_EQ(result, 1U);
}

TEST_F(Arguments, requests_that_have_ended) {
  Bytes buffer(10);
  mx_request_t consumed = post(b_, buffer, 5);
  const mx_request_t ended = consumed;
  send_forgotten(a_, to_b_, pattern(10), 5);
  finish(b_, consumed);
  refused_everywhere(b_, ended);

  mx_request_t receive = post(b_, buffer, 5);
  const mx_request_t forgotten = receive;
  EXPECT_EQ(mx_forget(b_, &receive), MX_SUCCESS);
  EXPECT_EQ(receive, nullptr);
  refused_everywhere(b_, forgotten);
}

// A thread that comes too late finds nothing, and its error says so.
TEST_F(Arguments, a_request_that_another_thread_took) {
  for (int i = 0; i < 50; i++) {
    Bytes buffer(10);
    const mx_request_t request = post(b_, buffer, 5);
    std::atomic<int> got{0}, waiting{0};
    const auto wait = [&] {
      mx_request_t mine = request;
      std::uint32_t result = 0;
      waiting++;
      const mx_return_t code = mx_wait(b_, &mine, kLongMs, nullptr, &result);
      EXPECT_TRUE(code == MX_SUCCESS || code == MX_BAD_REQUEST) << code;
      if (code == MX_SUCCESS) got += static_cast<int>(result);
    };
    std::thread first(wait), second(wait);
    while (waiting < 2) std::this_thread::yield();
    if (i % 2 == 0) ::usleep(2000);  // it sleeps by then
    send_forgotten(a_, to_b_, pattern(10), 5);
    while (got == 0) mx_progress(a_);
    first.join();
    second.join();
    EXPECT_EQ(got, 1);
  }
}

TEST_F(Arguments, connect_targets_that_cannot_be) {
  mx_endpoint_addr_t addr;
  mx_request_t request = nullptr;
  for (const std::uint64_t bad :
       {std::uint64_t{0}, std::uint64_t{1} << 48, ~std::uint64_t{0}, std::uint64_t{0xffffffffffff}})
    EXPECT_EQ(mx_connect(a_, bad, 0, kKey, 1, &addr), MX_NIC_NOT_FOUND) << bad;
  EXPECT_EQ(mx_iconnect(a_, 0xffffffffffffULL, 0, kKey, 0, nullptr, &request), MX_NIC_NOT_FOUND);
  EXPECT_EQ(mx_connect(a_, nic(b_), 256, kKey, 1, &addr), MX_BAD_ENDPOINT_ID);
  EXPECT_EQ(mx_iconnect(a_, nic(b_), 0xffffffff, kKey, 0, nullptr, nullptr), MX_BAD_ENDPOINT_ID);
}

TEST_F(Arguments, what_is_not_supported_says_so) {
  g_handled.clear();
  mx_request_t request = nullptr;
  EXPECT_EQ(mx_iput(a_, nullptr, 0, to_b_, 0, nullptr, &request), MX_FAILURE);
  EXPECT_EQ(mx_iget(a_, nullptr, 0, to_b_, 0, nullptr, &request), MX_FAILURE);
  EXPECT_EQ(mx_register_unexp_callback(a_, nullptr, nullptr), MX_FAILURE);
  ASSERT_EQ(g_handled.size(), 3U);
  for (const HandledError& error : g_handled) EXPECT_THAT(error.text, HasSubstr("not supported"));
}

TEST_F(Arguments, boards_for_mpi) {
  mx_endpt_handle_t handle = MX__INVALID_HANDLE;
  mx_mapper_state_t state;
  std::memset(&state, 0xff, sizeof state);
  EXPECT_EQ(mx_open_board(2, &handle), MX_BOARD_UNKNOWN);
  EXPECT_EQ(mx_open_board(1, &handle), MX_SUCCESS);
  EXPECT_EQ(mx__get_mapper_state(handle, &state), MX_SUCCESS);
  EXPECT_EQ(state.map_version, 0U);
  EXPECT_EQ(state.mapper_mac[5], 0);
  EXPECT_EQ(mx__get_mapper_state(handle, nullptr), MX_BAD_BAD_BAD);
}

}  // namespace
}  // namespace omx::mx_tests
