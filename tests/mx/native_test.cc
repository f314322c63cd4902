// SPDX-License-Identifier: BSD-3-Clause
// What the native interface has in addition to MX's (docs/spec/mx-api.md 9): contiguous buffers, argument
// orders, codes, timeouts.
#include <limits>

#include "mx_pair.h"
#include "open-mx.h"

namespace omx::mx_tests {
namespace {

class Native : public Pair {
 protected:
  void SetUp() override {
    Pair::SetUp();
    x_ = reinterpret_cast<omx_endpoint_t>(a_);
    y_ = reinterpret_cast<omx_endpoint_t>(b_);
    to_y_ = {{to_b_.stuff[0], to_b_.stuff[1]}};
  }
  omx_status_t complete(omx_endpoint_t endpoint, omx_request_t request) {
    omx_status_t status{};
    std::uint32_t done = 0;
    EXPECT_TRUE(
        drive_until([&] { return omx_test(endpoint, &request, &status, &done) != OMX_SUCCESS || done; }));
    return status;
  }

  omx_endpoint_t x_ = nullptr, y_ = nullptr;
  omx_endpoint_addr_t to_y_{};
};

TEST_F(Native, contiguous_messages) {
  for (const std::size_t size : {0, 10, 10000, 1000000}) {
    Bytes data = pattern(size), buffer(size);
    omx_request_t sent = nullptr, receive = nullptr;
    EXPECT_EQ(omx_irecv(y_, buffer.data(), size, 1, ~std::uint64_t{0}, &buffer, &receive), OMX_SUCCESS);
    EXPECT_EQ(omx_issend(x_, data.data(), size, to_y_, 1, nullptr, &sent), OMX_SUCCESS);
    const omx_status_t status = complete(y_, receive);
    EXPECT_EQ(status.code, OMX_SUCCESS);
    EXPECT_EQ(status.msg_length, size);
    EXPECT_EQ(status.context, &buffer);
    EXPECT_EQ(complete(x_, sent).code, OMX_SUCCESS);
    EXPECT_EQ(buffer, data);
  }
}

TEST_F(Native, segment_lists) {
  Bytes data = pattern(1000), buffer(1000);
  omx_seg_t out[2] = {{data.data(), 400}, {data.data() + 400, 600}};
  omx_seg_t in[2] = {{buffer.data(), 1}, {buffer.data() + 1, 999}};
  omx_request_t sent = nullptr, receive = nullptr;
  EXPECT_EQ(omx_irecvv(y_, in, 2, 1, ~std::uint64_t{0}, nullptr, &receive), OMX_SUCCESS);
  EXPECT_EQ(omx_isendv(x_, out, 2, to_y_, 1, nullptr, &sent), OMX_SUCCESS);
  EXPECT_EQ(complete(y_, receive).code, OMX_SUCCESS);
  EXPECT_EQ(complete(x_, sent).code, OMX_SUCCESS);
  EXPECT_EQ(buffer, data);
}

TEST_F(Native, lengths_beyond_32_bits_are_refused) {
  omx_request_t request = nullptr;
  const std::size_t length = std::size_t{std::numeric_limits<std::uint32_t>::max()} + 1;
  EXPECT_EQ(omx_isend(x_, nullptr, length, to_y_, 1, nullptr, &request), OMX_BAD_SEG_LIST);
  EXPECT_EQ(omx_irecv(x_, nullptr, length, 1, 1, nullptr, &request), OMX_BAD_SEG_LIST);
}

TEST_F(Native, truncation_has_its_code) {
  Bytes data = pattern(10), buffer(4);
  omx_request_t receive = nullptr;
  EXPECT_EQ(omx_irecv(y_, buffer.data(), 4, 1, ~std::uint64_t{0}, nullptr, &receive), OMX_SUCCESS);
  EXPECT_EQ(omx_isend(x_, data.data(), 10, to_y_, 1, nullptr, nullptr), OMX_SUCCESS);
  EXPECT_EQ(complete(y_, receive).code, OMX_MESSAGE_TRUNCATED);
}

TEST_F(Native, cancel_notest_completes) {
  Bytes buffer(4);
  omx_request_t receive = nullptr;
  std::uint32_t result = 0;
  EXPECT_EQ(omx_irecv(y_, buffer.data(), 4, 1, ~std::uint64_t{0}, nullptr, &receive), OMX_SUCCESS);
  EXPECT_EQ(omx_cancel_notest(y_, &receive, &result), OMX_SUCCESS);
  EXPECT_EQ(result, 1U);
  ASSERT_NE(receive, nullptr);
  omx_status_t status{};
  EXPECT_EQ(omx_test_any(y_, 1, ~std::uint64_t{0}, &status, &result), OMX_SUCCESS);
  EXPECT_EQ(result, 1U);
  EXPECT_EQ(status.code, OMX_CANCELLED);
}

TEST_F(Native, cancel_notest__calls_no_error_handler) {
  static int calls = 0;
  const auto handler = [](char*, omx_return_t code) {
    calls++;
    return code;
  };
  const omx_error_handler_t before = omx_set_error_handler(y_, handler);
  const auto cancelled = [&] {
    static Bytes buffer(4);
    omx_request_t receive = nullptr;
    std::uint32_t result = 0;
    EXPECT_EQ(omx_irecv(y_, buffer.data(), 4, 1, ~std::uint64_t{0}, nullptr, &receive), OMX_SUCCESS);
    EXPECT_EQ(omx_cancel_notest(y_, &receive, &result), OMX_SUCCESS);
    return receive;
  };
  omx_status_t status{};
  std::uint32_t result = 0;
  omx_request_t request = cancelled();
  EXPECT_EQ(omx_test(y_, &request, &status, &result), OMX_SUCCESS);
  EXPECT_EQ(status.code, OMX_CANCELLED);
  request = cancelled();
  EXPECT_EQ(omx_wait(y_, &request, &status, &result, OMX_TIMEOUT_INFINITE), OMX_SUCCESS);
  EXPECT_EQ(status.code, OMX_CANCELLED);
  cancelled();
  EXPECT_EQ(omx_wait_any(y_, 1, ~std::uint64_t{0}, &status, &result, OMX_TIMEOUT_INFINITE), OMX_SUCCESS);
  EXPECT_EQ(status.code, OMX_CANCELLED);
  EXPECT_EQ(calls, 0);
  omx_set_error_handler(y_, before);
}

// Programs may use the names of the codes of either interface.
TEST_F(Native, codes__have_the_names_of_both_interfaces) {
  EXPECT_EQ(static_cast<int>(OMX_BAD_ERROR), static_cast<int>(MX_BAD_BAD_BAD));
  EXPECT_EQ(static_cast<int>(OMX_ACCESS_DENIED), static_cast<int>(MX_NO_PERM));
  EXPECT_EQ(static_cast<int>(OMX_BOARD_NOT_FOUND), static_cast<int>(MX_BOARD_UNKNOWN));
  EXPECT_EQ(static_cast<int>(OMX_PEER_NOT_FOUND), static_cast<int>(MX_NIC_NOT_FOUND));
  EXPECT_EQ(static_cast<int>(OMX_NOT_SUPPORTED_WITH_CONTEXT_ID),
            static_cast<int>(MX_NOT_SUPPORTED_WITH_CONTEXT_ID));
  for (int code = 0; code < OMX_RETURN_CODE_MAX; code++) {
    if (code > MX_NOT_SUPPORTED_WITH_CONTEXT_ID && code < OMX_CANCELLED) continue;
    if (code == OMX_NO_SYSTEM_RESOURCES + 1) continue;
    EXPECT_STRNE(omx_strerror(static_cast<omx_return_t>(code)), omx_strerror(OMX_RETURN_CODE_MAX)) << code;
  }
}

TEST_F(Native, timeout_zero_looks_once) {
  std::uint32_t result = 7;
  omx_request_t request = nullptr;
  EXPECT_EQ(omx_wait_any(y_, 0, 0, nullptr, &result, 0), OMX_SUCCESS);
  EXPECT_EQ(result, 0U);
  EXPECT_EQ(omx_probe(y_, 0, 0, nullptr, &result, 0), OMX_SUCCESS);
  EXPECT_EQ(result, 0U);
  EXPECT_EQ(omx_peek(y_, &request, &result, 0), OMX_SUCCESS);
  EXPECT_EQ(result, 0U);
}

TEST_F(Native, endpoint_handlers) {
  const auto handler = [](char*, omx_return_t) { return OMX_BUSY; };
  EXPECT_EQ(omx_set_error_handler(x_, handler), nullptr);
  EXPECT_EQ(omx_irecvv(x_, nullptr, 0, 1, 0, nullptr, nullptr), OMX_BUSY);
  EXPECT_EQ(omx_irecvv(y_, nullptr, 0, 1, 0, nullptr, nullptr), OMX_BAD_MATCH_MASK);
  EXPECT_EQ(omx_set_error_handler(x_, nullptr), static_cast<omx_error_handler_t>(handler));
  EXPECT_EQ(omx_irecvv(x_, nullptr, 0, 1, 0, nullptr, nullptr), OMX_BAD_MATCH_MASK);
  EXPECT_EQ(omx_set_error_handler(reinterpret_cast<omx_endpoint_t>(&x_), handler), nullptr);
}

TEST_F(Native, library_is_shared) {
  EXPECT_EQ(omx_init(), OMX_ALREADY_INITIALIZED);
  omx_endpoint_t endpoint = nullptr;
  EXPECT_EQ(omx_open_endpoint(0, OMX_ANY_ENDPOINT, 0, nullptr, 0, &endpoint), OMX_SUCCESS);
  EXPECT_EQ(omx_close_endpoint(endpoint), OMX_SUCCESS);
  EXPECT_EQ(mx_close_endpoint(reinterpret_cast<mx_endpoint_t>(endpoint)), MX_BAD_ENDPOINT);
  EXPECT_EQ(omx_finalize(), OMX_SUCCESS);
  EXPECT_EQ(mx_finalize(), MX_NOT_INITIALIZED);
}

}  // namespace
}  // namespace omx::mx_tests
