// SPDX-License-Identifier: BSD-3-Clause
// Requests and their completion (docs/spec/mx-clients.md 8 to 17, 20).
#include "mx_pair.h"

namespace omx::mx_tests {
namespace {

constexpr std::size_t kSizes[] = {0, 1, 32, 33, 128, 129, 4000, 32768, 32769, 1000000};

class Requests : public Pair {
 protected:
  bool test(mx_endpoint_t endpoint, mx_request_t& request) {
    drive();
    std::uint32_t result = 7;
    EXPECT_EQ(mx_test(endpoint, &request, nullptr, &result), MX_SUCCESS);
    return result;
  }
  bool test_any(mx_endpoint_t endpoint, std::uint64_t info, std::uint64_t mask,
                mx_status_t* status = nullptr) {
    drive();
    std::uint32_t result = 7;
    EXPECT_EQ(mx_test_any(endpoint, info, mask, status, &result), MX_SUCCESS);
    return result;
  }
  bool ipeek(mx_endpoint_t endpoint, mx_request_t* request) {
    drive();
    std::uint32_t result = 7;
    EXPECT_EQ(mx_ipeek(endpoint, request, &result), MX_SUCCESS);
    return result;
  }
};

TEST_F(Requests, status_of_both_sides) {
  for (const std::size_t size : kSizes) {
    Bytes buffer(size + 10);
    int tags[2];
    mx_request_t receive = post(b_, buffer, 0x1200, 0xff00, &tags[0]);
    const Bytes data = pattern(size);
    mx_request_t sent = send(a_, to_b_, data, 0x1234, &tags[1]);
    const mx_status_t r = finish(b_, receive);
    const mx_status_t s = finish(a_, sent);
    for (const mx_status_t& status : {r, s}) {
      EXPECT_EQ(status.code, MX_STATUS_SUCCESS);
      EXPECT_EQ(status.match_info, 0x1234U);
      EXPECT_EQ(status.msg_length, size);
      EXPECT_EQ(status.xfer_length, size);
    }
    EXPECT_EQ(r.context, &tags[0]);
    EXPECT_EQ(s.context, &tags[1]);
    EXPECT_TRUE(same(r.source, address(a_)));
    EXPECT_TRUE(same(s.source, address(b_)));
    EXPECT_TRUE(std::equal(data.begin(), data.end(), buffer.begin()));
  }
}

// 8
TEST_F(Requests, peek_returns_what_test_completes) {
  Bytes buffers[2] = {Bytes(10), Bytes(10)};
  mx_request_t first = post(b_, buffers[0], 1);
  mx_request_t second = post(b_, buffers[1], 2);
  mx_request_t found = nullptr;
  EXPECT_FALSE(ipeek(b_, &found));
  EXPECT_EQ(found, nullptr);
  send_forgotten(a_, to_b_, pattern(10), 2);
  ASSERT_TRUE(drive_until([&] { return ipeek(b_, &found); }));
  EXPECT_EQ(found, second);
  mx_status_t status{};
  std::uint32_t result = 0;
  EXPECT_EQ(mx_test(b_, &found, &status, &result), MX_SUCCESS);
  EXPECT_EQ(result, 1U);
  EXPECT_EQ(found, nullptr);
  EXPECT_EQ(status.context, nullptr);
  EXPECT_FALSE(ipeek(b_, &found));
  send_forgotten(a_, to_b_, pattern(10), 1);
  EXPECT_EQ(mx_peek(b_, kLongMs, &found, &result), MX_SUCCESS);
  EXPECT_EQ(result, 1U);
  EXPECT_EQ(found, first);
  finish(b_, first);
}

// 8
TEST_F(Requests, forgotten_ones_are_never_seen) {
  Bytes buffers[2] = {Bytes(10), Bytes(10)};
  mx_request_t receive = post(b_, buffers[0], 1);
  EXPECT_EQ(mx_forget(b_, &receive), MX_SUCCESS);
  EXPECT_EQ(receive, nullptr);
  mx_segment_t segment = {buffers[1].data(), 10};
  EXPECT_EQ(mx_irecv(b_, &segment, 1, 2, MX_MATCH_MASK_NONE, nullptr, nullptr), MX_SUCCESS);
  send_forgotten(a_, to_b_, pattern(10), 1);
  send_forgotten(a_, to_b_, pattern(10), 2);
  ASSERT_TRUE(drive_until([&] { return buffers[1] == pattern(10); }));
  EXPECT_EQ(buffers[0], pattern(10));
  mx_request_t found = nullptr;
  for (const mx_endpoint_t endpoint : {a_, b_}) {
    EXPECT_FALSE(ipeek(endpoint, &found));
    EXPECT_FALSE(test_any(endpoint, 0, 0));
  }
}

// 8, 9
TEST_F(Requests, cancelled_receive_is_gone) {
  Bytes buffer(10), other(10);
  mx_request_t receive = post(b_, buffer, 1);
  std::uint32_t result = 7;
  EXPECT_EQ(mx_cancel(b_, &receive, &result), MX_SUCCESS);
  EXPECT_EQ(result, 1U);
  EXPECT_EQ(receive, nullptr);
  send_forgotten(a_, to_b_, pattern(10), 1);
  EXPECT_EQ(finish(b_, post(b_, other, 1)).code, MX_STATUS_SUCCESS);
  EXPECT_EQ(buffer, Bytes(10));
  mx_request_t found = nullptr;
  EXPECT_FALSE(ipeek(b_, &found));
}

// 9
TEST_F(Requests, cancel_comes_too_late) {
  Bytes buffer(10);
  mx_request_t receive = post(b_, buffer, 1);
  send_forgotten(a_, to_b_, pattern(10), 1);
  mx_request_t found = nullptr;
  ASSERT_TRUE(drive_until([&] { return ipeek(b_, &found); }));
  std::uint32_t result = 7;
  EXPECT_EQ(mx_cancel(b_, &receive, &result), MX_SUCCESS);
  EXPECT_EQ(result, 0U);
  EXPECT_NE(receive, nullptr);
  finish(b_, receive);
}

// 9
TEST_F(Requests, sends_cannot_be_cancelled) {
  const Bytes data = pattern(10);
  mx_request_t sent = send_sync(a_, to_b_, data, 1);
  std::uint32_t result = 7;
  EXPECT_EQ(mx_cancel(a_, &sent, &result), MX_BAD_REQUEST);
  EXPECT_EQ(result, 0U);
  EXPECT_NE(sent, nullptr);
  Bytes buffer(10);
  finish_both(b_, post(b_, buffer, 1), a_, sent);
}

TEST_F(Requests, pending_connect_is_cancelled) {
  mx_request_t request = nullptr;
  EXPECT_EQ(mx_iconnect(a_, 0x020000000077, 1, kKey, 1, nullptr, &request), MX_SUCCESS);
  std::uint32_t result = 7;
  EXPECT_EQ(mx_cancel(a_, &request, &result), MX_SUCCESS);
  EXPECT_EQ(result, 1U);
  EXPECT_EQ(request, nullptr);
}

// 10
TEST_F(Requests, any_looks_at_the_masked_bits_only) {
  Bytes buffers[2] = {Bytes(10), Bytes(10)};
  int tags[2];
  post(b_, buffers[0], 0x101, MX_MATCH_MASK_NONE, &tags[0]);
  post(b_, buffers[1], 0x202, MX_MATCH_MASK_NONE, &tags[1]);
  send_forgotten(a_, to_b_, pattern(10), 0x101);
  send_forgotten(a_, to_b_, pattern(10), 0x202);
  mx_status_t status{};
  EXPECT_FALSE(test_any(b_, 0x300, 0xf00));
  ASSERT_TRUE(drive_until([&] { return test_any(b_, 0x200, 0xf00, &status); }));
  EXPECT_EQ(status.context, &tags[1]);
  ASSERT_TRUE(drive_until([&] { return test_any(b_, 0, 0, &status); }));
  EXPECT_EQ(status.context, &tags[0]);
  EXPECT_FALSE(test_any(b_, 0, 0));
}

// 10
TEST_F(Requests, any_delivers_connections) {
  int tag;
  mx_request_t request = nullptr;
  EXPECT_EQ(mx_iconnect(a_, nic(b_), id(b_), kKey, 0xc0, &tag, &request), MX_SUCCESS);
  mx_status_t status{};
  ASSERT_TRUE(drive_until([&] { return test_any(a_, 0xc0, 0xf0, &status); }));
  EXPECT_EQ(status.context, &tag);
  EXPECT_EQ(status.match_info, 0xc0U);
  EXPECT_TRUE(same(status.source, address(b_)));
}

// 10
TEST_F(Requests, context_ids_have_their_own_queues) {
  mx_param_t param{};
  param.key = MX_PARAM_CONTEXT_ID;
  param.val.context_id = {4, 60};
  const mx_endpoint_t endpoint = open(1, MX_ANY_ENDPOINT, {param});
  others_.push_back(endpoint);
  const mx_endpoint_addr_t to = connect(a_, endpoint);
  const auto of = [](std::uint64_t context) { return context << 60; };
  const std::uint64_t all = of(15);
  // A mask with only a part of the id is refused, and so is one without it.
  EXPECT_EQ(mx_irecv(endpoint, nullptr, 0, 0, of(1), nullptr, nullptr), MX_BAD_MATCHING_FOR_CONTEXT_ID_MASK);
  EXPECT_EQ(mx_irecv(endpoint, nullptr, 0, 0, 0, nullptr, nullptr), MX_BAD_MATCHING_FOR_CONTEXT_ID_MASK);
  Bytes buffers[3] = {Bytes(4), Bytes(4), Bytes(4)};
  for (unsigned i = 0; i < 3; i++) {
    post(endpoint, buffers[i], of(i), all);
    send_forgotten(a_, to, pattern(4, i), of(i) | 5);
  }
  mx_status_t status{};
  const auto poll = [&](std::uint64_t info, std::uint64_t mask) {
    return test_any(endpoint, info, mask, &status);
  };
  ASSERT_TRUE(drive_until([&] { return poll(of(2), all); }));
  EXPECT_EQ(status.match_info, of(2) | 5);
  EXPECT_FALSE(poll(of(2), all));
  ASSERT_TRUE(drive_until([&] { return poll(of(1), all); }));
  // Without id bits in the mask all contexts are searched (docs/spec/protocol.md 9.2).
  ASSERT_TRUE(drive_until([&] { return poll(5, 0xf); }));
  EXPECT_EQ(status.match_info, of(0) | 5);
  for (unsigned i = 0; i < 3; i++) EXPECT_EQ(buffers[i], pattern(4, i));
}

// 11
TEST_F(Requests, source_is_an_address) {
  Bytes buffer(10);
  mx_request_t receive = post(b_, buffer, 1);
  send_forgotten(a_, to_b_, pattern(10), 1);
  const mx_endpoint_addr_t back = finish(b_, receive).source;
  void* context = nullptr;
  EXPECT_EQ(mx_set_endpoint_addr_context(back, &buffer), MX_SUCCESS);
  finish_both(a_, post(a_, buffer, 2), b_, send(b_, back, pattern(10), 2));
  receive = post(b_, buffer, 1);
  send_forgotten(a_, to_b_, pattern(10), 1);
  EXPECT_EQ(mx_get_endpoint_addr_context(finish(b_, receive).source, &context), MX_SUCCESS);
  EXPECT_EQ(context, &buffer);
}

// 12
TEST_F(Requests, probe_fills_the_whole_status) {
  for (const std::size_t size : kSizes) {
    const Bytes data = pattern(size);
    mx_request_t sent = send(a_, to_b_, data, 0x55);
    mx_status_t status{};
    status.code = MX_STATUS_ABORTED;
    std::uint32_t result = 0;
    EXPECT_EQ(mx_iprobe(b_, 0x54, ~std::uint64_t{0}, &status, &result), MX_SUCCESS);
    EXPECT_EQ(result, 0U);
    EXPECT_EQ(mx_probe(b_, kLongMs, 0x50, 0xf0, &status, &result), MX_SUCCESS);
    ASSERT_EQ(result, 1U);
    EXPECT_EQ(status.code, MX_STATUS_SUCCESS);
    EXPECT_EQ(status.match_info, 0x55U);
    EXPECT_EQ(status.msg_length, size);
    EXPECT_EQ(status.xfer_length, size);
    EXPECT_TRUE(same(status.source, address(a_)));
    // The message stays queued.
    EXPECT_EQ(mx_iprobe(b_, 0, 0, nullptr, &result), MX_SUCCESS);
    EXPECT_EQ(result, 1U);
    Bytes buffer(size);
    finish_both(b_, post(b_, buffer, 0x55), a_, sent);
    EXPECT_EQ(buffer, pattern(size));
    EXPECT_FALSE(unexpected_waits(b_));
  }
}

// 13
TEST_F(Requests, truncation) {
  for (const std::size_t size : kSizes) {
    if (size < 2) continue;
    for (const bool early : {false, true}) {
      const std::size_t room = size / 2;
      const Bytes data = pattern(size);
      Bytes buffer(size, 0xaa);
      mx_segment_t segment = {buffer.data(), static_cast<std::uint32_t>(room)};
      mx_request_t sent = nullptr, receive = nullptr;
      if (early) {
        sent = send(a_, to_b_, data, 1);
        ASSERT_TRUE(drive_until([&] { return unexpected_waits(b_); }));
      }
      EXPECT_EQ(mx_irecv(b_, &segment, 1, 1, MX_MATCH_MASK_NONE, nullptr, &receive), MX_SUCCESS);
      if (!early) sent = send(a_, to_b_, data, 1);
      const mx_status_t status = finish(b_, receive);
      EXPECT_EQ(status.code, MX_STATUS_TRUNCATED) << size;
      EXPECT_EQ(status.msg_length, size);
      EXPECT_EQ(status.xfer_length, room);
      Bytes expected = data;
      std::fill(expected.begin() + static_cast<std::ptrdiff_t>(room), expected.end(), 0xaa);
      EXPECT_EQ(buffer, expected);
      finish(a_, sent);
    }
  }
}

// 14
TEST_F(Requests, empty_messages) {
  unsigned char byte = 0;
  mx_segment_t empty = {&byte, 0}, null = {nullptr, 0};
  const std::pair<mx_segment_t*, std::uint32_t> forms[] = {{nullptr, 0}, {&empty, 1}, {&null, 1}};
  for (const auto& [from, from_count] : forms) {
    for (const auto& [to, to_count] : forms) {
      for (const bool synchronous : {false, true}) {
        mx_request_t receive = nullptr, sent = nullptr;
        EXPECT_EQ(mx_irecv(b_, to, to_count, 1, MX_MATCH_MASK_NONE, nullptr, &receive), MX_SUCCESS);
        EXPECT_EQ((synchronous ? mx_issend : mx_isend)(a_, from, from_count, to_b_, 1, nullptr, &sent),
                  MX_SUCCESS);
        const mx_status_t status = finish(b_, receive);
        EXPECT_EQ(status.code, MX_STATUS_SUCCESS);
        EXPECT_EQ(status.msg_length, 0U);
        EXPECT_EQ(finish(a_, sent).code, MX_STATUS_SUCCESS);
      }
    }
  }
}

// 14: up to 256 segments of any size on both sides, cut at different places.
TEST_F(Requests, many_segments) {
  const auto cut = [](Bytes& bytes, std::size_t count) {
    std::vector<mx_segment_t> list;
    std::size_t at = 0;
    for (std::size_t i = 0; i < count; i++) {
      // The segments are uneven, some are empty, and the last takes the rest.
      const std::size_t even = bytes.size() / count;
      const std::size_t length = i + 1 == count ? bytes.size() - at
                                 : i % 5 == 3   ? 0
                                                : even - i % 3 * (even / 7);
      list.push_back({bytes.data() + at, static_cast<std::uint32_t>(length)});
      at += length;
    }
    return list;
  };
  for (const std::size_t size : kSizes) {
    for (const auto& [pieces_out, pieces_in] :
         {std::pair<std::size_t, std::size_t>{256, 1}, {1, 256}, {256, 255}, {5, 3}}) {
      Bytes data = pattern(size), buffer(size);
      auto out = cut(data, pieces_out), in = cut(buffer, pieces_in);
      mx_request_t sent = nullptr, receive = nullptr;
      EXPECT_EQ(mx_irecv(b_, in.data(), static_cast<std::uint32_t>(in.size()), 1, MX_MATCH_MASK_NONE, nullptr,
                         &receive),
                MX_SUCCESS);
      EXPECT_EQ(mx_isend(a_, out.data(), static_cast<std::uint32_t>(out.size()), to_b_, 1, nullptr, &sent),
                MX_SUCCESS);
      finish_both(b_, receive, a_, sent);
      EXPECT_EQ(buffer, data) << size << " bytes, " << pieces_out << " to " << pieces_in;
    }
  }
}

// 15
TEST_F(Requests, running_out_of_time_is_no_error) {
  Bytes buffer(10);
  mx_request_t receive = post(b_, buffer, 1), found = nullptr;
  mx_status_t status;
  std::uint32_t result = 7;
  EXPECT_EQ(mx_wait(b_, &receive, 20, &status, &result), MX_SUCCESS);
  EXPECT_EQ(result, 0U);
  EXPECT_EQ(mx_wait_any(b_, 20, 0, 0, &status, &result), MX_SUCCESS);
  EXPECT_EQ(result, 0U);
  EXPECT_EQ(mx_probe(b_, 20, 0, 0, &status, &result), MX_SUCCESS);
  EXPECT_EQ(result, 0U);
  EXPECT_EQ(mx_peek(b_, 20, &found, &result), MX_SUCCESS);
  EXPECT_EQ(result, 0U);
  EXPECT_TRUE(g_handled.empty());
  send_forgotten(a_, to_b_, pattern(10), 1);
  EXPECT_EQ(finish(b_, receive).code, MX_STATUS_SUCCESS);
}

// 15
TEST_F(Requests, wakeup_ends_every_wait) {
  Bytes buffer(10);
  mx_request_t receive = post(b_, buffer, 1);
  std::atomic<int> returned{0};
  std::vector<std::thread> threads;
  const auto in_thread = [&](auto wait) {
    threads.emplace_back([&returned, wait] {
      std::uint32_t result = 7;
      EXPECT_EQ(wait(&result), MX_SUCCESS);
      EXPECT_EQ(result, 0U);
      returned++;
    });
  };
  in_thread([&](std::uint32_t* result) { return mx_wait(b_, &receive, MX_INFINITE, nullptr, result); });
  in_thread([&](std::uint32_t* result) { return mx_wait_any(b_, MX_INFINITE, 9, 9, nullptr, result); });
  in_thread([&](std::uint32_t* result) { return mx_probe(b_, MX_INFINITE, 9, 9, nullptr, result); });
  in_thread([&](std::uint32_t* result) {
    mx_request_t found;
    return mx_peek(b_, MX_INFINITE, &found, result);
  });
  // The threads may not be waiting yet at the first call.
  EXPECT_TRUE(becomes_true([&] {
    mx_wakeup(b_);
    return returned == 4;
  }));
  for (std::thread& thread : threads) thread.join();
}

// 16
TEST_F(Requests, buffered_sends_can_be_forgotten) {
  for (const std::size_t size : {10, 100, 10000}) {
    const Bytes data = pattern(size);
    mx_request_t sent = send(a_, to_b_, data, 1);
    std::uint32_t result = 0;
    EXPECT_EQ(mx_ibuffered(a_, &sent, &result), MX_SUCCESS);
    EXPECT_EQ(result, 1U) << size;
    EXPECT_EQ(mx_buffered(a_, &sent, kLongMs, &result), MX_SUCCESS);
    EXPECT_EQ(result, 1U);
    EXPECT_EQ(mx_forget(a_, &sent), MX_SUCCESS);
    Bytes buffer(size);
    EXPECT_EQ(finish(b_, post(b_, buffer, 1)).code, MX_STATUS_SUCCESS);
    drive_for();
    EXPECT_FALSE(test_any(a_, 0, 0));
  }
}

TEST_F(Requests, large_sends_are_buffered_when_done) {
  const Bytes data = pattern(1000000);
  mx_request_t sent = send(a_, to_b_, data, 1);
  std::uint32_t result = 7;
  EXPECT_EQ(mx_ibuffered(a_, &sent, &result), MX_SUCCESS);
  EXPECT_EQ(result, 0U);
  EXPECT_EQ(mx_buffered(a_, &sent, 20, &result), MX_SUCCESS);
  EXPECT_EQ(result, 0U);
  Bytes buffer(1000000);
  const mx_request_t receive = post(b_, buffer, 1);
  {
    const Background other([this] { mx_progress(b_); });
    EXPECT_EQ(mx_buffered(a_, &sent, kLongMs, &result), MX_SUCCESS);
  }
  EXPECT_EQ(result, 1U);
  finish_both(a_, sent, b_, receive);
}

TEST_F(Requests, receives_are_not_buffered) {
  Bytes buffer(10);
  mx_request_t receive = post(b_, buffer, 1);
  std::uint32_t result = 7;
  EXPECT_EQ(mx_ibuffered(b_, &receive, &result), MX_BAD_REQUEST);
  EXPECT_TRUE(g_handled.empty());
}

TEST_F(Requests, context_before_completion) {
  Bytes buffer(10);
  mx_request_t receive = post(b_, buffer, 1, MX_MATCH_MASK_NONE, &buffer);
  void* context = nullptr;
  EXPECT_EQ(mx_context(&receive, &context), MX_SUCCESS);
  EXPECT_EQ(context, &buffer);
}

// 17: the data of a forgotten receive are in its buffer before anything later from the same peer completes.
TEST_F(Requests, forgotten_receive_is_filled_before_later_messages_complete) {
  for (const std::size_t size : kSizes) {
    if (size > 32768) continue;  // eager
    for (unsigned i = 0; i < 10; i++) {
      const Bytes data = pattern(size, i);
      Bytes buffer(size), end(1);
      mx_request_t receive = post(b_, buffer, 1);
      EXPECT_EQ(mx_forget(b_, &receive), MX_SUCCESS);
      mx_request_t last = post(b_, end, 2);
      mx_request_t sent = send(a_, to_b_, data, 1);
      send_forgotten(a_, to_b_, Bytes(1), 2);
      EXPECT_EQ(finish(b_, last).code, MX_STATUS_SUCCESS);
      EXPECT_EQ(buffer, data);
      finish(a_, sent);
    }
  }
}

// 20
TEST_F(Requests, without_buffered_sends_a_send_ends_at_its_acknowledgement) {
  mx_finalize();
  environment_.set("MX_ZOMBIE_SEND", "0");
  ASSERT_EQ(mx_init(), MX_SUCCESS);
  a_ = open(0);
  b_ = open(1);
  to_b_ = connect(a_, b_);
  EXPECT_EQ(mx_disable_progression(b_), MX_SUCCESS);
  const Bytes data = pattern(10);
  mx_request_t sent = send(a_, to_b_, data, 1);
  std::uint32_t result = 7;
  EXPECT_EQ(mx_wait(a_, &sent, 100, nullptr, &result), MX_SUCCESS);
  EXPECT_EQ(result, 0U);
  EXPECT_EQ(mx_reenable_progression(b_), MX_SUCCESS);
  EXPECT_EQ(finish(a_, sent).code, MX_STATUS_SUCCESS);
}

}  // namespace
}  // namespace omx::mx_tests
