// SPDX-License-Identifier: BSD-3-Clause
// The unexpected handler and the progression switch (docs/spec/mx-clients.md 21 to 24).
#include <unistd.h>

#include <atomic>

#include "mx_pair.h"
#include "open-mx.h"

namespace omx::mx_tests {
namespace {

struct Call {
  std::uint64_t match_info;
  std::uint32_t length;
  bool has_data;
  Bytes data;
  mx_endpoint_addr_t source;
};

class Handler : public Pair {
 protected:
  // Called on each unexpected message of b_. By default the message is kept.
  using Body = std::function<mx_unexp_handler_action_t(const Call&)>;

  void install(Body body) {
    body_ = std::move(body);
    EXPECT_EQ(mx_register_unexp_handler(b_, entry, this), MX_SUCCESS);
  }
  static mx_unexp_handler_action_t entry(void* context, mx_endpoint_addr_t source, std::uint64_t match_info,
                                         std::uint32_t length, void* data) {
    auto* self = static_cast<Handler*>(context);
    Call call{match_info, length, data != nullptr, {}, source};
    if (data) call.data.assign(static_cast<unsigned char*>(data), static_cast<unsigned char*>(data) + length);
    self->calls_.push_back(call);
    return self->body_(call);
  }

  Body body_;
  std::vector<Call> calls_;
};

mx_unexp_handler_action_t keep(const Call&) {
  return MX_RECV_CONTINUE;
}

// The handler runs in the progress thread.
class HandlerBehind : public Handler {
 protected:
  void SetUp() override {
    CableOnly::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    environment_.set("OMX_PROGRESS", "always");
    ASSERT_EQ(mx_init(), MX_SUCCESS);
    a_ = open(0);
    b_ = open(1);
    ASSERT_TRUE(a_ && b_);
    to_b_ = connect(a_, b_);
  }
  // Closes an endpoint while its handler runs, and the handler then makes a call.
  template <class Close>
  void close_meanwhile(Close close) {
    std::atomic<bool> entered{false};
    std::atomic<int> answer{-1};
    install([&](const Call&) {
      entered = true;
      ::usleep(50'000);
      std::uint32_t result = 0;
      mx_status_t status;
      answer = mx_iprobe(b_, 1, MX_MATCH_MASK_NONE, &status, &result);
      return MX_RECV_FINISHED;
    });
    send_forgotten(a_, to_b_, pattern(10), 2);
    ASSERT_TRUE(becomes_true([&] { return entered.load(); }));
    close();
    EXPECT_EQ(answer, MX_SUCCESS);
  }
};

TEST_F(HandlerBehind, may_call_until_it_ends_though_the_endpoint_is_closed) {
  close_meanwhile([this] { EXPECT_EQ(mx_close_endpoint(b_), MX_SUCCESS); });
}

TEST_F(HandlerBehind, may_call_until_it_ends_though_the_library_is_left) {
  close_meanwhile([] { EXPECT_EQ(mx_finalize(), MX_SUCCESS); });
}

// 21
TEST_F(Handler, sees_unmatched_messages_only) {
  install(keep);
  Bytes buffer(10);
  const mx_request_t receive = post(b_, buffer, 1);  // before anything can arrive
  finish_both(b_, receive, a_, send(a_, to_b_, pattern(10), 1));
  EXPECT_TRUE(calls_.empty());
  send_forgotten(a_, to_b_, pattern(10), 2);
  ASSERT_TRUE(drive_until([&] { return !calls_.empty(); }));
  EXPECT_EQ(calls_[0].match_info, 2U);
  EXPECT_TRUE(same(calls_[0].source, address(a_)));
  // The message was kept and can be received.
  EXPECT_EQ(finish(b_, post(b_, buffer, 2)).code, MX_STATUS_SUCCESS);
  EXPECT_EQ(calls_.size(), 1U);
}

// 21
TEST_F(Handler, gets_the_data_of_small_messages) {
  install([](const Call&) { return MX_RECV_FINISHED; });
  // The longest data that arrive in one frame. Shared memory has larger frames.
  const std::size_t most = std::getenv("OMX_TEST_LOCAL") ? 10000 : 128;
  for (const std::size_t size : {1, 32, 100, 128, 10000, 1000000}) {
    calls_.clear();
    const Bytes data = pattern(size);
    mx_request_t sent = send(a_, to_b_, data, 3);
    ASSERT_TRUE(drive_until([&] { return !calls_.empty(); }));
    EXPECT_EQ(calls_[0].length, size);
    EXPECT_EQ(calls_[0].has_data, size <= most);
    EXPECT_EQ(calls_[0].data, size <= most ? data : Bytes());
    finish(a_, sent);
  }
}

// 22
TEST_F(Handler, message_matches_a_receive_posted_inside) {
  for (const std::size_t size : {10, 100, 10000, 1000000}) {
    Bytes buffer(size);
    mx_request_t receive = nullptr;
    install([&](const Call& call) {
      void* context = this;
      EXPECT_EQ(mx_get_endpoint_addr_context(call.source, &context), MX_SUCCESS);
      EXPECT_EQ(context, nullptr);
      receive = post(b_, buffer, call.match_info);
      return MX_RECV_CONTINUE;
    });
    const Bytes data = pattern(size);
    mx_request_t sent = send(a_, to_b_, data, 4);
    ASSERT_TRUE(drive_until([&] { return receive != nullptr; }));
    finish_both(b_, receive, a_, sent);
    EXPECT_EQ(buffer, data);
    EXPECT_FALSE(unexpected_waits(b_));
  }
}

// 22: Charm++ tests its request in the handler.
TEST_F(Handler, may_test_and_send_inside) {
  install([&](const Call& call) {
    Bytes buffer(10);
    mx_request_t receive = post(b_, buffer, 99);
    std::uint32_t result = 7;
    EXPECT_EQ(mx_test(b_, &receive, nullptr, &result), MX_SUCCESS);
    EXPECT_EQ(result, 0U);
    EXPECT_EQ(mx_cancel(b_, &receive, &result), MX_SUCCESS);
    EXPECT_EQ(result, 1U);
    EXPECT_EQ(mx_wait_any(b_, 1, 0, 0, nullptr, &result), MX_SUCCESS);
    send_forgotten(b_, call.source, call.data, 5);
    return MX_RECV_FINISHED;
  });
  Bytes answer(10);
  mx_request_t receive = post(a_, answer, 5);
  send_forgotten(a_, to_b_, pattern(10), 4);
  EXPECT_EQ(finish(a_, receive).code, MX_STATUS_SUCCESS);
  EXPECT_EQ(answer, pattern(10));
}

// 23
TEST_F(Handler, finished_drops_the_message) {
  install([](const Call&) { return MX_RECV_FINISHED; });
  for (const std::size_t size : {0, 10, 1000, 100000}) {
    const Bytes data = pattern(size);
    EXPECT_THAT(finish(a_, send_sync(a_, to_b_, data, 6)).code,
                testing::AnyOf(MX_STATUS_SUCCESS, MX_STATUS_TRUNCATED));
    EXPECT_FALSE(unexpected_waits(b_));
  }
  EXPECT_EQ(calls_.size(), 4U);
}

TEST_F(Handler, removed_ones_are_not_called) {
  install(keep);
  EXPECT_EQ(mx_register_unexp_handler(b_, nullptr, nullptr), MX_SUCCESS);
  send_forgotten(a_, to_b_, pattern(10), 2);
  ASSERT_TRUE(drive_until([&] { return unexpected_waits(b_); }));
  EXPECT_TRUE(calls_.empty());
  // The handler is not called for what is queued already.
  install(keep);
  drive_for();
  EXPECT_TRUE(calls_.empty());
}

TEST_F(Handler, another_one_replaces_it) {
  int first = 0, second = 0;
  install([&](const Call&) {
    first++;
    return MX_RECV_FINISHED;
  });
  const auto other = [](void* context, mx_endpoint_addr_t, std::uint64_t, std::uint32_t, void*) {
    ++*static_cast<int*>(context);
    return MX_RECV_FINISHED;
  };
  EXPECT_EQ(mx_register_unexp_handler(b_, other, &second), MX_SUCCESS);
  send_forgotten(a_, to_b_, pattern(10), 2);
  ASSERT_TRUE(drive_until([&] { return second == 1; }));
  EXPECT_EQ(first, 0);
}

TEST_F(Handler, closing_inside_is_refused) {
  mx_return_t code = MX_SUCCESS;
  install([&](const Call&) {
    code = mx_close_endpoint(b_);
    EXPECT_EQ(mx_finalize(), MX_CLOSE_IN_HANDLER);
    return MX_RECV_FINISHED;
  });
  send_forgotten(a_, to_b_, pattern(10), 2);
  ASSERT_TRUE(drive_until([&] { return code != MX_SUCCESS; }));
  EXPECT_EQ(code, MX_CLOSE_IN_HANDLER);
  EXPECT_EQ(mx_progress(b_), MX_SUCCESS);
}

TEST_F(Handler, native_one) {
  static int calls;
  calls = 0;
  const auto handler = [](void* context, omx_endpoint_addr_t, std::uint64_t match_info, std::uint32_t length,
                          void*) {
    EXPECT_EQ(context, &calls);
    EXPECT_EQ(match_info, 2U);
    EXPECT_EQ(length, 10U);
    calls++;
    return OMX_UNEXP_HANDLER_RECV_FINISHED;
  };
  EXPECT_EQ(omx_register_unexp_handler(reinterpret_cast<omx_endpoint_t>(b_), handler, &calls), OMX_SUCCESS);
  send_forgotten(a_, to_b_, pattern(10), 2);
  ASSERT_TRUE(drive_until([&] { return calls == 1; }));
  EXPECT_FALSE(unexpected_waits(b_));
}

// 24
TEST_F(Handler, does_not_run_while_progression_is_disabled) {
  install(keep);
  EXPECT_EQ(mx_disable_progression(b_), MX_SUCCESS);
  EXPECT_EQ(mx_disable_progression(b_), MX_SUCCESS);
  send_forgotten(a_, to_b_, pattern(10), 2);
  drive_for();
  EXPECT_TRUE(calls_.empty());
  EXPECT_FALSE(unexpected_waits(b_));
  // Calls are not counted: one mx_reenable_progression() undoes both disabling calls.
  EXPECT_EQ(mx_reenable_progression(b_), MX_SUCCESS);
  ASSERT_TRUE(drive_until([&] { return !calls_.empty(); }));
}

// 24: the handler is not called for messages to oneself either, which wait in order.
TEST_F(Handler, does_not_run_for_own_messages_while_progression_is_disabled) {
  install(keep);
  Bytes buffer(10);
  mx_request_t receive = post(b_, buffer, 3);
  EXPECT_EQ(mx_disable_progression(b_), MX_SUCCESS);
  const mx_endpoint_addr_t self = address(b_);
  const Bytes data = pattern(10);
  mx_request_t unexpected = send(b_, self, data, 2);
  mx_request_t expected = send(b_, self, data, 3);
  send_forgotten(b_, self, pattern(10), 4);
  drive_for();
  EXPECT_TRUE(calls_.empty());
  EXPECT_FALSE(unexpected_waits(b_));
  std::uint32_t result = 7;
  EXPECT_EQ(mx_test(b_, &receive, nullptr, &result), MX_SUCCESS);
  EXPECT_EQ(result, 0U);

  EXPECT_EQ(mx_reenable_progression(b_), MX_SUCCESS);
  ASSERT_EQ(calls_.size(), 2U);
  EXPECT_EQ(calls_[0].match_info, 2U);
  EXPECT_EQ(calls_[1].match_info, 4U);
  finish(b_, receive);
  finish(b_, expected);
  Bytes second(10);
  finish(b_, post(b_, second, 2));
  finish(b_, unexpected);
  EXPECT_EQ(second, data);
}

// 24
TEST_F(Handler, own_messages_are_dropped_when_progression_is_disabled_for_good) {
  EXPECT_EQ(mx_disable_progression(b_), MX_SUCCESS);
  const Bytes data = pattern(10);
  send(b_, address(b_), data, 2);
  send_forgotten(b_, address(b_), pattern(100'000), 2);
  EXPECT_EQ(mx_close_endpoint(b_), MX_SUCCESS);
}

// 24: disabling waits for a handler that runs in another thread.
TEST_F(Handler, disabling_waits_for_a_running_one) {
  std::atomic<bool> inside{false}, may_leave{false}, left{false};
  install([&](const Call&) {
    inside = true;
    while (!may_leave) std::this_thread::yield();
    left = true;
    return MX_RECV_FINISHED;
  });
  send_forgotten(a_, to_b_, pattern(10), 2);
  std::thread progress([&] {
    while (!inside) mx_progress(b_);
  });
  while (!inside) mx_progress(a_);
  std::thread leave([&] { may_leave = true; });
  EXPECT_EQ(mx_disable_progression(b_), MX_SUCCESS);
  EXPECT_TRUE(left);
  leave.join();
  progress.join();
  EXPECT_EQ(mx_reenable_progression(b_), MX_SUCCESS);
}

}  // namespace
}  // namespace omx::mx_tests
