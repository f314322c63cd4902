// SPDX-License-Identifier: BSD-3-Clause
// The progress thread: what it does while the application makes no call, and that it makes way for callers.
#include <sys/resource.h>

#include <atomic>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <string>
#include <utility>

#include "base/bytes.h"
#include "link/ethernet/xdp_link.h"
#include "runtime/endpoint/counters_shared.h"
#include "runtime/endpoint/endpoint_impl.h"
#include "runtime/endpoint/engine_access.h"
#include "tests/support/pair.h"
#include "wire/packets.h"

namespace omx::runtime {
namespace {

class endpoint_background : public PairTest {
 protected:
  Settings settings() override {
    Settings s = PairTest::settings();
    s.waiting.progress = mode_;
    return s;
  }
  void start(ProgressMode mode) {
    mode_ = mode;
    open_apart(settings());
  }
  void SetUp() override {
    opens_ = false;
    PairTest::SetUp();
    process_.reset();
  }
  static SharedCounters counters(const Endpoint& endpoint) {
    return counters_read(endpoint.board().interface.index, endpoint.id()).value_or(SharedCounters{});
  }
  static bool connects(Endpoint& from, Endpoint& to, Address& address, std::uint64_t timeout_ms = 60000) {
    const auto request = from.connect(to.board().interface.nic, to.id(), 0, 0, nullptr, false);
    Completion completion;
    if (from.wait(*request, timeout_ms, completion) != WaitOutcome::done) {
      from.cancel(*request);
      return false;
    }
    address = from.address_of(completion.peer, completion.session, completion.conversation);
    return completion.status == Status::success;
  }
  // Sends a hundred short messages in a row. The sender makes no other call.
  void burst_arrives(const Address& to_b, const Bytes& data) {
    std::vector<Bytes> buffers(100, Bytes(8));
    std::vector<Request*> receives;
    for (Bytes& buffer : buffers) receives.push_back(post(*b_, buffer, 1));
    const auto began = std::chrono::steady_clock::now();
    for (std::size_t i = 0; i < buffers.size(); i++) send(*a_, to_b, data, 1, true);
    send_time_ = (std::chrono::steady_clock::now() - began) / buffers.size();
    Completion completion;
    for (Request* receive : receives) {
      ASSERT_EQ(b_->wait(receive, 60000, completion), WaitOutcome::done);
      ASSERT_EQ(completion.status, Status::success);
    }
  }
  // Only a sender that is fast enough coalesces messages. It may not be on a busy machine, or under a
  // sanitizer.
  void expect_packed(const Address& to_b, const Bytes& data) {
    if (std::getenv("OMX_TEST_LOCAL") != nullptr) return;
    bool fast = false;
    for (int i = 0; i < 30 && a_->counters()[protocol::Counter::send_coalesced] == 0; i++) {
      ASSERT_NO_FATAL_FAILURE(burst_arrives(to_b, data));
      fast = fast || send_time_ < std::chrono::microseconds(5);
    }
    EXPECT_TRUE(a_->counters()[protocol::Counter::send_coalesced] > 0 || !fast);
  }

  ProgressMode mode_ = ProgressMode::automatic;
  std::chrono::steady_clock::duration send_time_{};  // for each message of the last burst
};

// docs/spec/mx-clients.md 2
TEST_F(endpoint_background, connect__answered_while_the_peer_computes) {
  start(ProgressMode::automatic);
  Address address;
  EXPECT_TRUE(connects(*a_, *b_, address));
}

TEST_F(endpoint_background, off__nothing_moves_outside_calls) {
  start(ProgressMode::off);
  EXPECT_EQ(link::progress_threads(), 0);
  Address address;
  EXPECT_FALSE(connects(*a_, *b_, address, 50));
}

TEST_F(endpoint_background, large_message__received_while_the_application_computes) {
  for (const ProgressMode mode : {ProgressMode::automatic, ProgressMode::always}) {
    start(mode);
    Address to_b;
    ASSERT_TRUE(connects(*a_, *b_, to_b));
    const Bytes data = pattern(1 << 20, 3);
    Bytes buffer(data.size());
    Request* receive = post(*b_, buffer, 1);
    Completion completion;
    // The send completes only when the receiver has pulled all of the message and said so.
    ASSERT_EQ(a_->wait(send(*a_, to_b, data, 1), 60000, completion), WaitOutcome::done);
    EXPECT_EQ(completion.status, Status::success);
    // One poll finds the receive done.
    EXPECT_TRUE(b_->test(receive, completion) == WaitOutcome::done);
    EXPECT_EQ(buffer, data);
    EXPECT_GE(counters(*b_).takeovers, 1U);
    other_.reset();
    process_.reset();
  }
}

TEST_F(endpoint_background, sender__serves_pulls_while_it_computes) {
  start(ProgressMode::automatic);
  Address to_b;
  ASSERT_TRUE(connects(*a_, *b_, to_b));
  const Bytes data = pattern(300'000, 4);
  Bytes buffer(data.size());
  Request* sent = send(*a_, to_b, data, 1);
  Completion completion;
  ASSERT_EQ(b_->wait(post(*b_, buffer, 1), 60000, completion), WaitOutcome::done);
  EXPECT_EQ(buffer, data);
  EXPECT_TRUE(becomes_true([&] { return a_->test(sent, completion) == WaitOutcome::done; }));
}

TEST_F(endpoint_background, polling__sends_it_away_and_silence_brings_it_back) {
  start(ProgressMode::automatic);
  EXPECT_TRUE(becomes_true([&] { return counters(*b_).takeovers == 1; }));
  // The progress thread leads now, asleep. After some polls in a row it only watches.
  const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(20);
  while (std::chrono::steady_clock::now() < until) b_->progress();
  EXPECT_TRUE(becomes_true([&] { return counters(*b_).takeovers >= 2; }));
}

// A hand-over costs the poller more than the thread could save it.
TEST_F(endpoint_background, polling__is_not_interrupted_again_and_again) {
  start(ProgressMode::automatic);
  ASSERT_TRUE(becomes_true([&] { return counters(*b_).takeovers == 1; }));
  constexpr unsigned kPolls = 300'000;
  rusage before{}, after{};
  ::getrusage(RUSAGE_THREAD, &before);
  for (unsigned i = 0; i < kPolls; i++) b_->progress();
  ::getrusage(RUSAGE_THREAD, &after);
  // Each hand-over is followed by a longer pause than the one before. A poller that does not run makes no
  // calls.
  const auto away =
      static_cast<std::uint64_t>(after.ru_nivcsw + after.ru_nvcsw - before.ru_nivcsw - before.ru_nvcsw);
  EXPECT_LT(counters(*b_).takeovers, kPolls / 3000 + away);
}

TEST_F(endpoint_background, wait__sends_it_away_and_a_long_sleep_lets_it_rest) {
  start(ProgressMode::automatic);
  Address to_b, to_a;
  ASSERT_TRUE(connects(*a_, *b_, to_b));
  Bytes buffer(10);
  for (int round = 0; round < 3; round++) {
    Request* receive = post(*b_, buffer, 1);
    Completion completion;
    EXPECT_EQ(b_->wait(receive, 40, completion), WaitOutcome::timed_out);
    // Afterwards the progress thread is there again.
    Bytes large = pattern(200'000, 1);
    Bytes room(large.size());
    Request* second = post(*b_, room, 2);
    ASSERT_EQ(a_->wait(send(*a_, to_b, large, 2), 60000, completion), WaitOutcome::done);
    EXPECT_TRUE(b_->test(second, completion) == WaitOutcome::done);
    EXPECT_TRUE(b_->cancel(receive).value_or(false));
  }
}

TEST_F(endpoint_background, disable_progression__holds_for_it_too) {
  start(ProgressMode::always);
  Address to_b;
  ASSERT_TRUE(connects(*a_, *b_, to_b));
  b_->disable_progression();
  Bytes data = pattern(200'000, 1), buffer(data.size());
  Request* receive = post(*b_, buffer, 1);
  Request* sent = send(*a_, to_b, data, 1);
  Completion completion;
  EXPECT_EQ(a_->wait(sent, 50, completion), WaitOutcome::timed_out);
  b_->reenable_progression();
  EXPECT_EQ(a_->wait(sent, 60000, completion), WaitOutcome::done);
  EXPECT_TRUE(b_->test(receive, completion) == WaitOutcome::done);
}

// MX does the same, since its library had a thread, too.
TEST_F(endpoint_background, handler__called_while_the_application_computes) {
  start(ProgressMode::automatic);
  Address to_b;
  ASSERT_TRUE(connects(*a_, *b_, to_b));
  static std::atomic<int> calls;
  calls = 0;
  UnexpectedHandler handler;
  handler.call = [](const UnexpectedHandler&, const protocol::Arrival&) {
    calls++;
    return protocol::HandlerAction::finished;
  };
  b_->set_unexpected_handler(handler);
  const Bytes data = pattern(10, 1);
  send(*a_, to_b, data, 1, true);
  EXPECT_TRUE(becomes_true([&] { return calls == 1; }));
}

TEST_F(endpoint_background, close__ends_the_thread) {
  start(ProgressMode::automatic);
  EXPECT_TRUE(becomes_true([] { return link::progress_threads() == 2; }));
  EXPECT_TRUE(other_->close(b_));
  EXPECT_EQ(link::progress_threads(), 1);
  EXPECT_TRUE(process_->close(a_));
  EXPECT_EQ(link::progress_threads(), 0);
}

// Frames of a message that is complete. Repetitions leave such frames behind.
TEST_F(endpoint_background, late_pull_replies__wake_once) {
  mode_ = ProgressMode::off;
  Settings s = settings();
  s.waiting.spin_us = 0;
  s.intra_node.enabled = false;
  process_ = process_create(s);
  a_ = open(*process_, "v0");
  b_ = open(*process_, "v1");
  ASSERT_TRUE(a_ && b_);
  const Address to_b = PairTest::connect(*a_, *b_);
  const Bytes data = pattern(1 << 20, 1);
  Bytes buffer(data.size());
  Request* receive = post(*b_, buffer, 1);
  Request* sent = send(*a_, to_b, data, 1);
  complete(*b_, receive);
  complete(*a_, sent);
  Bytes late = link::make_frame(b_->board().interface.nic, a_->board().interface.nic, 100,
                                static_cast<std::uint8_t>(wire::PacketType::pull_reply), b_->id());
  store_be32(&late[28], wire::kPullMagic ^ b_->id());
  link::PacketLinkOptions options;
  options.interface = "v0";
  options.endpoint = 20;
  const auto cable = link::packet_link_open(options);
  ASSERT_TRUE(cable.has_value());
  for (int i = 0; i < 3; i++) link::frame_send(**cable, late);
  Completion completion;
  const std::uint64_t before = counters(*b_).wakeups;
  EXPECT_EQ(b_->wait_any(0, 0, 100, completion), WaitOutcome::timed_out);
  EXPECT_LT(counters(*b_).wakeups - before, 100U);
}

// A thread that goes to sleep elsewhere may still hold the lock when the progress thread comes.
TEST_F(endpoint_background, invited__it_waits_for_the_lock) {
  start(ProgressMode::automatic);
  const TimeNs polled_until = clock_now() + 20 * protocol::kMillisecond;
  while (clock_now() < polled_until) a_->progress();
  EndpointLock& lock = a_->impl().core.lock;
  const std::lock_guard guard(lock);
  ASSERT_TRUE(hand_over(*a_));
  EXPECT_TRUE(becomes_true([&] { return lock.wanted(); }));
}

// Counts what wakes a sleeper while a stream of large messages comes.
class endpoint_stream : public endpoint_background {
 protected:
  static constexpr int kMessages = 30;

  void start(const char* strategies, std::uint32_t moderation_us) {
    mode_ = ProgressMode::off;
    Settings s = settings();
    s.waiting.spin_us = 0;
    s.intra_node.enabled = false;
    s.waiting.moderation = *Strategies::parse(strategies);
    s.waiting.moderation_us = moderation_us;
    if (link_) {
      if (!by_udp() && !std::exchange(has_addresses_, true)) addresses_give(false);
      s.link = *link_;
      s.xdp.mode = link::XdpMode::generic;
    }
    open_apart(s);
    const Background answers([&] { b_->progress(); });
    ASSERT_TRUE(connects(*a_, *b_, to_b_));
  }
  void gives(Endpoint& endpoint, const Address& to) {
    Completion completion;
    EXPECT_EQ(endpoint.wait(send(endpoint, to, data_, 1), 60000, completion), WaitOutcome::done);
  }
  void takes(Endpoint& endpoint) {
    Bytes buffer(data_.size());
    Completion completion;
    EXPECT_EQ(endpoint.wait(post(endpoint, buffer, 1), 60000, completion), WaitOutcome::done);
    EXPECT_EQ(buffer, data_);
  }
  // Receives a stream and stores the receiver's counters.
  void stream(const char* strategies) {
    ASSERT_NO_FATAL_FAILURE(start(strategies, 500));
    std::thread sender([&] {
      for (int i = 0; i < kMessages; i++) gives(*a_, to_b_);
    });
    for (int i = 0; i < kMessages; i++) takes(*b_);
    const Background answers([&] { b_->progress(); });
    sender.join();
    seen_ = counters(*b_);
    by_frames_ = seen_.wakeups_frame +
                 seen_.wakeups_solicited;  // timers and the rest depend on how long the stream took
    frames_ = b_->link_counters().frames_received;
  }

  // Expects, where every frame of the link wakes, that frames end sleeps as flagged ones do. How often they
  // do depends on how busy the machine is; sleeping_test.cc has the rule for the bulk path.
  void bulk_path_waits(LinkKind link) {
    link_ = link;
    ASSERT_NO_FATAL_FAILURE(stream("message"));
    EXPECT_GT(seen_.wakeups_solicited, 0U);
  }

  // Sends messages to and fro by sleepers whose timer is far too late.
  void stream_both_ways() {
    ASSERT_NO_FATAL_FAILURE(start("message", 1'000'000));
    Address to_a;
    {
      const Background answers([&] { a_->progress(); });
      ASSERT_TRUE(connects(*b_, *a_, to_a));
    }
    std::thread other([&] {
      for (int i = 0; i < kMessages; i++) {
        takes(*b_);
        gives(*b_, to_a);
      }
    });
    for (int i = 0; i < kMessages; i++) {
      gives(*a_, to_b_);
      takes(*a_);
    }
    {
      const Background answers([&] { a_->progress(); });
      other.join();
    }
    EXPECT_LE(counters(*a_).wakeups_moderated + counters(*b_).wakeups_moderated, 4U);
  }

  const Bytes data_ = pattern(1 << 20, 1);
  std::optional<LinkKind> link_;  // instead of that of the environment
  bool has_addresses_ = false;    // beside those of the fixture
  Address to_b_;
  SharedCounters seen_;
  std::uint64_t by_frames_ = 0;
  std::uint64_t frames_ = 0;
};

// More frames come than one turn reads, and no solicited frame follows them.
TEST_F(endpoint_stream, message__nothing_that_has_come_waits_for_the_timer) {
  ASSERT_NO_FATAL_FAILURE(stream_both_ways());
}

TEST_F(endpoint_stream, adaptive__wakes_a_sleeper_by_marked_frames) {
  ASSERT_NO_FATAL_FAILURE(stream("adaptive"));
  EXPECT_GT(seen_.wakeups_solicited, 0U);
  // The very first message opens bulk paths and the wake-up socket.
  EXPECT_LT(by_frames_, frames_ / 4);
}

TEST_F(endpoint_stream, message__wakes_a_sleeper_by_marked_frames) {
  ASSERT_NO_FATAL_FAILURE(stream("frame,0:message,1:message"));
  EXPECT_GT(seen_.wakeups_solicited, 0U);
  EXPECT_EQ(seen_.deferred, 0U);
  EXPECT_LT(by_frames_, frames_ / 4);
}

TEST_F(endpoint_stream, stream__no_more_often) {
  ASSERT_NO_FATAL_FAILURE(stream("stream"));
  EXPECT_GT(seen_.wakeups_solicited, 0U);
  EXPECT_LT(by_frames_, frames_ / 2);
}

TEST_F(endpoint_stream, timer__never_by_marked_frames) {
  ASSERT_NO_FATAL_FAILURE(stream("timer"));
  EXPECT_EQ(seen_.wakeups_solicited, 0U);
  EXPECT_GT(seen_.wakeups_moderated, 0U);
  EXPECT_LT(by_frames_, frames_ / 4);
}

TEST_F(endpoint_stream, frame__by_frames_alone) {
  ASSERT_NO_FATAL_FAILURE(stream("frame"));
  EXPECT_GT(seen_.wakeups_frame, 0U);
  EXPECT_EQ(seen_.wakeups_solicited, 0U);
  EXPECT_EQ(seen_.wakeups_moderated, 0U);
}

TEST_F(endpoint_stream, udp__the_bulk_path_waits_for_its_announcement) {
  bulk_path_waits(LinkKind::udp4);
}

TEST_F(endpoint_stream, udp__adaptive_leaves_nothing_out) {
  link_ = LinkKind::udp4;
  ASSERT_NO_FATAL_FAILURE(stream("adaptive"));
  EXPECT_GT(seen_.wakeups_frame, 0U);
  EXPECT_EQ(seen_.wakeups_solicited, 0U);
}

TEST_F(endpoint_stream, xdp__the_bulk_path_waits_for_its_announcement) {
  if (!link::xdp_built()) GTEST_SKIP() << "this build has no AF_XDP";
  OMX_SKIP_BY_UDP();
  OMX_SKIP_BY_BROKER();
  bulk_path_waits(LinkKind::xdp);
}

// Nothing that came by the main socket or by the connected fast-path socket waits for the timer.
TEST_F(endpoint_stream, udp__nothing_that_has_come_waits_for_the_timer) {
  link_ = LinkKind::udp4;
  ASSERT_NO_FATAL_FAILURE(stream_both_ways());
}

// --- bursts of short messages (burst_sends.cc)
// -----------------------------------------------------------

// A program that sends and then computes: none of its messages is left waiting.
TEST_F(endpoint_background, burst__arrives_though_its_sender_calls_nothing_more) {
  start(ProgressMode::automatic);
  Address to_b;
  ASSERT_TRUE(connects(*a_, *b_, to_b));
  const Bytes data = pattern(8, 5);
  for (int round = 0; round < 5; round++) {
    ASSERT_NO_FATAL_FAILURE(burst_arrives(to_b, data));
  }
  expect_packed(to_b, data);
}

// The usual program: it computes, the progress thread takes over, and then the program sends.
TEST_F(endpoint_background, burst__while_the_thread_leads) {
  start(ProgressMode::automatic);
  Address to_b;
  ASSERT_TRUE(connects(*a_, *b_, to_b));
  std::this_thread::sleep_for(std::chrono::milliseconds(30));
  ASSERT_NO_FATAL_FAILURE(burst_arrives(to_b, Bytes(8)));
  expect_packed(to_b, Bytes(8));
}

TEST_F(endpoint_background, end_background__sends_what_waits) {
  start(ProgressMode::automatic);
  Address to_b;
  ASSERT_TRUE(connects(*a_, *b_, to_b));
  for (int i = 0; i < 30; i++) send(*a_, to_b, Bytes(8), 1, true);
  a_->end_background();
  Completion completion;
  for (int i = 0; i < 30; i++) {
    Bytes buffer(8);
    ASSERT_EQ(b_->wait(post(*b_, buffer, 1), 60000, completion), WaitOutcome::done);
  }
}

// Without a progress thread, nothing would send messages that wait.
TEST_F(endpoint_background, off__bursts_do_not_wait) {
  start(ProgressMode::off);
  const auto request = a_->connect(b_->board().interface.nic, b_->id(), 0, 0, nullptr, false);
  Completion completion;
  ASSERT_TRUE(drive_until([&] { return a_->test(*request, completion) == WaitOutcome::done; }));
  const Address to_b = a_->address_of(completion.peer, completion.session, completion.conversation);
  const std::uint64_t again = resent(*a_);
  for (int i = 0; i < 100; i++) send(*a_, to_b, Bytes(8), 1, true);
  EXPECT_EQ(a_->counters()[protocol::Counter::send_coalesced], 0U);
  EXPECT_EQ(a_->counters()[protocol::Counter::send_tiny] - (resent(*a_) - again), 100U);
}

TEST_F(endpoint_background, lone_messages_do_not_wait) {
  start(ProgressMode::automatic);
  Address to_b;
  ASSERT_TRUE(connects(*a_, *b_, to_b));
  for (int i = 0; i < 50; i++) {
    send(*a_, to_b, Bytes(8), 1, true);
    Completion completion;
    a_->test_any(0, 0, completion);
  }
  for (int i = 0; i < 20; i++) {
    send(*a_, to_b, Bytes(8), 1, true);
    std::this_thread::sleep_for(std::chrono::microseconds(100));
  }
  EXPECT_EQ(a_->counters()[protocol::Counter::send_coalesced], 0U);
}

}  // namespace
}  // namespace omx::runtime
