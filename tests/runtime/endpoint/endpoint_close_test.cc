// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/clock.h"
#include "runtime/endpoint/counters_shared.h"
#include "tests/support/child.h"
#include "tests/support/pair.h"

namespace omx::runtime {
namespace {

using protocol::Arrival;
using protocol::HandlerAction;
using protocol::kMillisecond;

class endpoint_close : public PairTest {
 protected:
  TimeNs time_of_close(Endpoint* endpoint) {
    const TimeNs start = clock_now();
    EXPECT_TRUE(process_->close(endpoint));
    return clock_now() - start;
  }
};

TEST_F(endpoint_close, frees_id_slot_and_claim) {
  const std::uint32_t slot = a_->slot();
  const Board board = a_->board();
  EXPECT_EQ(process_->endpoint_at(slot), a_);
  EXPECT_TRUE(process_->owns(a_));
  EXPECT_TRUE(claim_held(board.interface.index, 0));
  EXPECT_TRUE(process_->close(a_));
  EXPECT_EQ(process_->endpoint_at(slot), nullptr);
  EXPECT_FALSE(process_->owns(a_));
  EXPECT_FALSE(process_->close(a_));
  EXPECT_FALSE(process_->close(nullptr));
  EXPECT_FALSE(claim_held(board.interface.index, 0));
  Endpoint* again = open(*process_, "v0");
  EXPECT_EQ(again->id(), 0);
  EXPECT_NE(again->slot(), slot);  // a stale address does not meet it
}

// The linger time is so long that the time limit of all tests would end a close that waits for anything.
TEST_F(endpoint_close, nothing_pending__nothing_to_wait_for) {
  Settings s = settings();
  s.close_linger_ms = 600'000;
  open_apart(s);
  connect(*a_, *b_);
  EXPECT_TRUE(process_->close(a_));
}

TEST_F(endpoint_close, waiting_threads_return_first) {
  Bytes buffer(16);
  Request* receive = post(*b_, buffer, 1);
  std::atomic<int> woken{0};
  std::vector<std::thread> threads;
  threads.reserve(16);
  for (int t = 0; t < 6; t++) {
    threads.emplace_back([&, t] {
      Completion completion;
      Arrival arrival;
      const WaitOutcome outcome =
          t % 2 ? b_->wait(receive, kForever, completion) : b_->wait_probe(0, 0, kForever, arrival);
      EXPECT_EQ(outcome, WaitOutcome::woken);
      woken++;
    });
  }
  ASSERT_TRUE(others_wait());
  EXPECT_TRUE(process_->close(b_));
  EXPECT_EQ(woken, 6);
  for (std::thread& thread : threads) thread.join();
}

// A program may close as soon as its sends are complete.
TEST_F(endpoint_close, lingers_for_what_is_not_acknowledged) {
  const Address to_b = connect(*a_, *b_);
  std::vector<Bytes> buffers(300, Bytes(1000));
  std::vector<Request*> receives;
  receives.reserve(buffers.size());
  for (Bytes& buffer : buffers) receives.push_back(post(*b_, buffer, 1));
  const Bytes data = pattern(1000, 1);
  for (std::size_t i = 0; i < buffers.size(); i++) send(*a_, to_b, data, 1, true);
  EXPECT_TRUE(process_->close(a_));
  Completion completion;
  for (Request* receive : receives) {
    ASSERT_EQ(b_->wait(receive, 60000, completion), WaitOutcome::done);
    ASSERT_EQ(completion.status, Status::success);
  }
}

// The peer timeout is so long that the time limit of all tests would end a close that waits longer than the
// linger time.
TEST_F(endpoint_close, lingers_for_a_limited_time) {
  Settings s = settings();
  s.protocol.reliability.peer_timeout = 600'000 * kMillisecond;
  open_apart(s);
  const Address to_b = connect(*a_, *b_);
  b_->disable_progression();
  send(*a_, to_b, pattern(16, 1), 1, true);
  const TimeNs took = time_of_close(a_);
  EXPECT_GE(took, process_->settings().close_linger_ms * kMillisecond);
}

// The application may have freed its buffers before, so data that arrive during the linger time must not be
// written into them.
TEST_F(endpoint_close, lingering__posted_receives_take_nothing) {
  const Address to_b = connect(*a_, *b_);
  const Address to_a = connect(*b_, *a_);
  a_->disable_progression();
  Bytes one(16), many(16);
  post(*b_, one, 1);
  protocol::Segment segment{many.data(), 16};
  protocol::ReceiveOp op;
  op.segments = {&segment, 1};
  op.match_info = 2;
  op.multi_receive_least = 1;
  ASSERT_TRUE(b_->receive(op));
  send(*b_, to_a, pattern(16, 1), 1, true);
  std::thread closes([&] { EXPECT_TRUE(process_->close(b_)); });
  while (process_->owns(b_)) std::this_thread::yield();
  std::this_thread::sleep_for(std::chrono::milliseconds(30));
  send(*a_, to_b, pattern(16, 1), 1, true);
  send(*a_, to_b, pattern(16, 1), 2, true);
  a_->reenable_progression();
  closes.join();
  EXPECT_EQ(one, Bytes(16));
  EXPECT_EQ(many, Bytes(16));
}

TEST_F(endpoint_close, lingering__a_large_message_comes_no_further) {
  const Address to_b = connect(*a_, *b_);
  const Address to_a = connect(*b_, *a_);
  const Bytes data = pattern(1 << 20, 3);
  Bytes buffer(data.size());
  post(*b_, buffer, 1);
  Request* const sent = send(*a_, to_b, data, 1);
  ASSERT_TRUE(becomes_true([&] {  // the message is asked for
    b_->progress();
    return b_->counters()[protocol::Counter::send_pull_request] > 0 || buffer == data;
  }));
  if (buffer ==
      data) {  // read straight from the sender's memory, although it may have been asked for as well
    EXPECT_EQ(complete(*a_, sent).status, Status::success);
    return;
  }
  a_->disable_progression();
  send(*b_, to_a, pattern(16, 1), 1, true);
  std::thread closes([&] { EXPECT_TRUE(process_->close(b_)); });
  while (process_->owns(b_)) std::this_thread::yield();
  std::this_thread::sleep_for(std::chrono::milliseconds(30));
  const Bytes before = buffer;
  a_->reenable_progression();
  closes.join();
  EXPECT_EQ(buffer, before);
}

TEST_F(endpoint_close, refused_inside_the_handler) {
  const Address to_b = connect(*a_, *b_);
  struct Context {
    Process* process;
    Endpoint* endpoint;
    int refused = 0;
  } context{process_.get(), b_};
  b_->set_unexpected_handler({[](const UnexpectedHandler& handler, const Arrival&) {
                                auto* c = static_cast<Context*>(handler.context);
                                c->refused += !c->process->close(c->endpoint);
                                return HandlerAction::finished;
                              },
                              nullptr, &context, nullptr});
  send(*a_, to_b, pattern(16, 1), 1, true);
  EXPECT_TRUE(drive_until([&] { return context.refused == 1; }));
  EXPECT_TRUE(process_->owns(b_));
}

TEST_F(endpoint_close, peer_sees_it_and_a_new_endpoint_is_another_one) {
  const Address to_b = connect(*a_, *b_);
  const NicId nic = b_->board().interface.nic;
  const std::uint32_t old_session = b_->session();
  ASSERT_TRUE(process_->close(b_));
  b_ = open(*process_, "v1", 1);  // it answers for the board
  EXPECT_EQ(connect_status(*a_, nic, 0), Status::endpoint_closed);
  ASSERT_TRUE(process_->close(b_));
  b_ = open(*process_, "v1", 0);
  EXPECT_NE(b_->session(), old_session);
  // A synchronous send: a message that was copied counts as sent.
  protocol::SendOp op;
  op.synchronous = true;
  const auto stale = a_->send(to_b, op);
  ASSERT_TRUE(stale);
  const Status status = complete(*a_, *stale).status;
  EXPECT_TRUE(status == Status::bad_session || status == Status::endpoint_closed ||
              status == Status::endpoint_unreachable);
  connect(*a_, *b_);
}

TEST_F(endpoint_close, process_closes_what_is_open) {
  const Address to_b = connect(*a_, *b_);
  send(*a_, to_b, pattern(16, 1), 1, true);
  const std::uint32_t ifindex = a_->board().interface.index;
  process_.reset();
  EXPECT_FALSE(claim_held(ifindex, 0));
}

// docs/spec/mx-clients.md 28: a killed rank leaves nothing behind.
TEST_F(endpoint_close, killed_process_frees_its_endpoint) {
  const Settings s = settings();
  ASSERT_TRUE(process_->close(b_));
  Child child([&] {
    static std::unique_ptr<Process> process = process_create(s);
    static Endpoint* endpoint = process ? open(*process, "v1", 0) : nullptr;
    if (!endpoint) return false;
    static Background driver([] { endpoint->progress(); });
    return true;
  });
  ASSERT_TRUE(child.ok());
  OpenOptions options;
  options.board = a_->board().number == 0 ? 1 : 0;
  options.endpoint = 0;
  const auto busy = process_->open(options);
  ASSERT_FALSE(busy);
  EXPECT_EQ(busy.error().mx_code, 20);
  EXPECT_THAT(busy.error().message, testing::HasSubstr(std::to_string(child.pid())));
  EXPECT_TRUE(counters_read(process_->boards()[options.board].interface.index, 0));

  const NicId nic = process_->boards()[options.board].interface.nic;
  const auto request = a_->connect(nic, 0, 0, 0, nullptr, false);
  Completion completion;
  ASSERT_EQ(a_->wait(*request, 60000, completion), WaitOutcome::done);
  EXPECT_EQ(completion.status, Status::success);
  child.kill();
  b_ = open(*process_, "v1", 0);
  ASSERT_TRUE(b_);
  connect(*a_, *b_);
}

}  // namespace
}  // namespace omx::runtime
