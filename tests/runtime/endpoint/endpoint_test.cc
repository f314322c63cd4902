// SPDX-License-Identifier: BSD-3-Clause
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <mutex>

#include "runtime/clock.h"
#include "tests/support/child.h"
#include "tests/support/pair.h"

namespace omx::runtime {
namespace {

using protocol::Arrival;
using protocol::HandlerAction;

class endpoint : public PairTest {};

TEST_F(endpoint, connect__both_ways_and_to_itself) {
  const AddressParts to_b = address_unpack(connect(*a_, *b_));
  EXPECT_EQ(to_b.nic, b_->board().interface.nic);
  EXPECT_EQ(to_b.endpoint, b_->id());
  EXPECT_EQ(to_b.session, b_->session());
  EXPECT_EQ(to_b.slot, a_->slot());
  connect(*b_, *a_);
  connect(*a_, *a_);
  EXPECT_EQ(a_->peers().size(), 2U);  // a itself and b
}

TEST_F(endpoint, connect__refused) {
  const NicId nic = b_->board().interface.nic;
  EXPECT_EQ(connect_status(*a_, nic, 9), Status::endpoint_closed);
  EXPECT_EQ(connect_status(*a_, nic, b_->id(), 77), Status::bad_key);
}

// The engine refuses ids beyond its own configuration, so the side that connects allows more.
TEST_F(endpoint, connect__beyond_the_last_endpoint_of_the_peer) {
  Settings s = settings();
  s.interfaces = "v0";
  s.endpoints_max = s.protocol.max_endpoints = 256;
  auto other = process_create(s);
  Endpoint* from = open(*other, "v0");
  const auto request = from->connect(b_->board().interface.nic, 40, 0, 0, nullptr, false);
  ASSERT_TRUE(request);
  Completion completion;
  ASSERT_TRUE(drive_until([&] { return from->test(*request, completion) == WaitOutcome::done; }));
  EXPECT_EQ(completion.status, Status::bad_endpoint);
}

TEST_F(endpoint, send__every_class_of_message) {
  const Address to_b = connect(*a_, *b_);
  for (const std::size_t size :
       {0UL, 1UL, 32UL, 33UL, 128UL, 129UL, 1000UL, 5000UL, 32768UL, 32769UL, 100'000UL, 3'000'000UL}) {
    const Bytes data = pattern(size, static_cast<unsigned>(size));
    Bytes expected_first(size), unexpected_first(size);
    Request* receive = post(*b_, expected_first, size);
    Request* sent = send(*a_, to_b, data, size);
    const Completion received = complete(*b_, receive);
    EXPECT_EQ(received.status, Status::success) << size;
    EXPECT_EQ(received.msg_length, size);
    EXPECT_EQ(received.xfer_length, size);
    EXPECT_EQ(complete(*a_, sent).status, Status::success) << size;
    EXPECT_TRUE(expected_first == data) << size;

    sent = send(*a_, to_b, data, size);
    Arrival arrival;
    ASSERT_TRUE(drive_until([&] { return b_->probe(size, ~std::uint64_t{0}, arrival); })) << size;
    EXPECT_EQ(arrival.msg_length, size);
    EXPECT_EQ(complete(*b_, post(*b_, unexpected_first, size)).status, Status::success) << size;
    EXPECT_EQ(complete(*a_, sent).status, Status::success) << size;
    EXPECT_TRUE(unexpected_first == data) << size;
  }
}

TEST_F(endpoint, send__to_itself_without_connecting) {
  Bytes buffer(100);
  const Bytes data = pattern(100, 1);
  Request* receive = post(*a_, buffer, 5);
  Request* sent = send(*a_, a_->address(), data, 5);
  EXPECT_EQ(complete(*a_, receive).status, Status::success);
  EXPECT_EQ(complete(*a_, sent).status, Status::success);
  EXPECT_TRUE(buffer == data);
}

// A program that only sends, and never asks for completions, still sees acknowledgements.
TEST_F(endpoint, send__without_any_other_call) {
  const Address to_b = connect(*a_, *b_);
  constexpr std::uint64_t kCount = 5000;  // many times the window
  std::uint64_t received = 0;
  const Bytes data = pattern(16, 1);
  Bytes buffer(16);
  Completion completion;
  Background sender([&] {
    send(*a_, to_b, data, 0, true);
    for (int i = 0; i < 1000; i++) cpu_relax();  // the sender is slower than the receiver
  });
  for (; received < kCount; received++) {
    if (b_->wait(post(*b_, buffer, 0, 0), 60000, completion) != WaitOutcome::done) break;
  }
  EXPECT_EQ(received, kCount);
}

TEST_F(endpoint, send__bad_addresses) {
  const Address good = connect(*a_, *b_);
  const AddressParts parts = address_unpack(good);
  const auto status_of = [&](AddressParts wrong) { return a_->send(address_pack(wrong), {}); };
  AddressParts wrong = parts;
  wrong.slot++;
  EXPECT_EQ(status_of(wrong).error(), OpError::bad_request);
  wrong = parts;
  wrong.peer = 1000;
  EXPECT_EQ(status_of(wrong).error(), OpError::bad_request);
  wrong = parts;
  wrong.nic++;
  EXPECT_EQ(status_of(wrong).error(), OpError::bad_request);
  wrong = parts;
  wrong.endpoint++;
  EXPECT_EQ(status_of(wrong).error(), OpError::bad_request);
  EXPECT_EQ(a_->send(Address{}, {}).error(), OpError::bad_request);
  EXPECT_EQ(b_->send(good, {}).error(), OpError::bad_request);  // an address of another endpoint
  EXPECT_FALSE(b_->disconnect(good));
  EXPECT_FALSE(b_->set_address_context(good, this));
  EXPECT_EQ(b_->address_context(good), std::nullopt);
}

TEST_F(endpoint, address_context__survives_in_other_copies_of_the_address) {
  const Address to_b = connect(*a_, *b_);
  EXPECT_EQ(a_->address_context(to_b), nullptr);
  EXPECT_TRUE(a_->set_address_context(to_b, this));
  EXPECT_EQ(a_->address_context(connect(*a_, *b_)), this);
}

TEST_F(endpoint, cancel_and_buffered) {
  const Address to_b = connect(*a_, *b_);
  Bytes buffer(8);
  Request* receive = post(*b_, buffer, 1);
  EXPECT_TRUE(b_->cancel(receive).value());
  const Bytes data = pattern(1000, 3);
  Request* sent = send(*a_, to_b, data, 2);
  EXPECT_TRUE(drive_until([&] { return a_->buffered(sent).value_or(false); }));
  a_->forget(sent);
  EXPECT_EQ(a_->peek(), nullptr);
}

TEST_F(endpoint, disconnect__then_connect_again) {
  const Address to_b = connect(*a_, *b_);
  EXPECT_TRUE(a_->disconnect(to_b));
  const Bytes data = pattern(10, 1);
  EXPECT_EQ(complete(*a_, send(*a_, to_b, data, 1)).status, Status::endpoint_unreachable);
  const Address again = connect(*a_, *b_);
  Bytes buffer(10);
  Request* receive = post(*b_, buffer, 1);
  send(*a_, again, data, 1, true);
  EXPECT_EQ(complete(*b_, receive).status, Status::success);
}

// Another thread may notice late that an incarnation is gone, when its successor has connected already.
TEST_F(endpoint, disconnect__of_an_instance_that_is_gone_leaves_its_successor_alone) {
  const std::uint32_t id = a_->id();
  connect(*a_, *b_);
  const Address old = connect(*b_, *a_);
  EXPECT_TRUE(process_->close(a_));
  a_ = open(*process_, "v0", id);
  ASSERT_TRUE(a_);
  const Address to_b = connect(*a_, *b_);
  const Bytes data = pattern(100, 1);
  Bytes buffer(data.size());
  Request* receive = post(*b_, buffer, 1);
  send(*a_, to_b, data, 1, true);
  EXPECT_TRUE(b_->disconnect(old));
  EXPECT_EQ(complete(*b_, receive).status, Status::success);
  receive = post(*b_, buffer, 2);
  send(*a_, to_b, data, 2, true);
  EXPECT_EQ(complete(*b_, receive).status, Status::success);
}

TEST_F(endpoint, set_timeout__of_a_connect_to_nobody) {
  const auto request = a_->connect(0x02deadbeef01, 0, 0, 0, nullptr, false);
  a_->set_timeout(*request, 100);
  EXPECT_NE(complete(*a_, *request).status, Status::success);
}

TEST_F(endpoint, counters__and_facts) {
  const Address to_b = connect(*a_, *b_);
  Bytes buffer(8);
  Request* receive = post(*b_, buffer, 1);
  send(*a_, to_b, pattern(8, 1), 1, true);
  complete(*b_, receive);
  EXPECT_EQ(a_->counters()[protocol::Counter::send_tiny], 1U);
  EXPECT_EQ(b_->counters()[protocol::Counter::recv_tiny], 1U);
  if (!process_->settings().intra_node.enabled) {
    EXPECT_GT(a_->link_counters().frames_sent, 0U);
  }
  EXPECT_GT(a_->memory().peers, 0U);
  EXPECT_GE(a_->eager_max(), 128U);
  const auto peers = a_->peers();
  const auto is_b = [&](const protocol::PeerInfo& info) { return info.nic == b_->board().interface.nic; };
  EXPECT_TRUE(std::any_of(peers.begin(), peers.end(), is_b));
}

// --- the unexpected handler
// ----------------------------------------------------------------------------------

struct HandlerProbe {
  Endpoint* endpoint = nullptr;
  std::function<HandlerAction(const Arrival&)> action;
  int calls = 0;

  static HandlerAction entry(const UnexpectedHandler& handler, const Arrival& arrival) {
    auto* self = static_cast<HandlerProbe*>(handler.context);
    self->calls++;
    EXPECT_TRUE(self->endpoint->in_handler());
    return self->action ? self->action(arrival) : HandlerAction::proceed;
  }
};

// MPICH and Charm++ do this in their handlers (docs/spec/mx-clients.md 22).
TEST_F(endpoint, handler__may_use_the_endpoint) {
  const Address to_b = connect(*a_, *b_);
  Bytes buffer(16), answer(4);
  Request* receive = nullptr;
  HandlerProbe probe{b_, {}};
  probe.action = [&](const Arrival& arrival) {
    EXPECT_EQ(arrival.match_info, 42U);
    EXPECT_NE(arrival.data, nullptr);
    const Address source = b_->address_of(arrival.peer, arrival.session, arrival.conversation);
    EXPECT_TRUE(b_->set_address_context(source, this));
    receive = post(*b_, buffer, 42);
    send(*b_, source, pattern(4, 9), 7, true);
    Completion completion;
    EXPECT_FALSE(b_->test(receive, completion) == WaitOutcome::done);
    EXPECT_EQ(b_->wait(receive, kForever, completion),
              WaitOutcome::woken);  // otherwise the wait would never end
    EXPECT_EQ(b_->wait_any(0, 0, 5, completion), WaitOutcome::woken);
    b_->progress();
    return HandlerAction::proceed;
  };
  EXPECT_FALSE(b_->in_handler());
  b_->set_unexpected_handler({HandlerProbe::entry, nullptr, &probe, nullptr});
  Request* back = post(*a_, answer, 7);
  const Bytes data = pattern(16, 1);
  send(*a_, to_b, data, 42, true);
  ASSERT_TRUE(drive_until([&] { return receive != nullptr; }));
  EXPECT_EQ(complete(*b_, receive).status, Status::success);
  EXPECT_TRUE(buffer == data);
  EXPECT_EQ(complete(*a_, back).status, Status::success);
  EXPECT_EQ(probe.calls, 1);
  EXPECT_FALSE(b_->in_handler());
}

TEST_F(endpoint, handler__finished_drops_the_message_and_null_removes_it) {
  const Address to_b = connect(*a_, *b_);
  HandlerProbe probe{b_, [](const Arrival&) { return HandlerAction::finished; }};
  b_->set_unexpected_handler({HandlerProbe::entry, nullptr, &probe, nullptr});
  send(*a_, to_b, pattern(16, 1), 1, true);
  ASSERT_TRUE(drive_until([&] { return probe.calls == 1; }));
  Arrival arrival;
  EXPECT_FALSE(b_->probe(1, ~std::uint64_t{0}, arrival));
  b_->set_unexpected_handler({});
  send(*a_, to_b, pattern(16, 1), 2, true);
  ASSERT_TRUE(drive_until([&] { return b_->probe(2, ~std::uint64_t{0}, arrival); }));
  EXPECT_EQ(probe.calls, 1);
}

// --- progression
// ---------------------------------------------------------------------------------------------

TEST_F(endpoint, disable_progression__nothing_arrives_until_it_is_reenabled) {
  const Address to_b = connect(*a_, *b_);
  HandlerProbe probe{b_, {}};
  b_->set_unexpected_handler({HandlerProbe::entry, nullptr, &probe, nullptr});
  b_->disable_progression();
  b_->disable_progression();
  send(*a_, to_b, pattern(16, 1), 1, true);
  for (int i = 0; i < 100; i++) {
    a_->progress();
    b_->progress();
  }
  EXPECT_EQ(probe.calls, 0);
  b_->reenable_progression();
  EXPECT_TRUE(drive_until([&] { return probe.calls == 1; }));
}

// Frames that came in the same batch must not run the handler again, and must not be lost either.
TEST_F(endpoint, disable_progression__inside_the_handler) {
  const Address to_b = connect(*a_, *b_);
  HandlerProbe probe{b_, {}};
  probe.action = [&](const Arrival&) {
    b_->disable_progression();
    return HandlerAction::proceed;
  };
  b_->set_unexpected_handler({HandlerProbe::entry, nullptr, &probe, nullptr});
  const std::uint64_t resends = a_->counters()[protocol::Counter::resend_timeout];
  for (int i = 0; i < 10; i++) send(*a_, to_b, pattern(16, 1), 1, true);
  for (int calls = 1; calls <= 10; calls++) {
    ASSERT_TRUE(drive_until([&] { return probe.calls == calls; }));
    for (int i = 0; i < 10; i++) b_->progress();
    EXPECT_EQ(probe.calls, calls);
    b_->reenable_progression();
  }
  EXPECT_EQ(a_->counters()[protocol::Counter::resend_timeout], resends);
}

TEST_F(endpoint, disable_progression__what_came_meanwhile_is_answered_at_the_end) {
  const Address to_b = connect(*a_, *b_);
  HandlerProbe probe{b_, {}};
  probe.action = [&](const Arrival&) {
    b_->disable_progression();
    return HandlerAction::finished;
  };
  b_->set_unexpected_handler({HandlerProbe::entry, nullptr, &probe, nullptr});
  const Bytes data = pattern(200'000, 1);
  Bytes buffer(data.size());
  post(*b_, buffer, 2);
  send(*a_, to_b, pattern(16, 1), 1, true);
  Request* large = send(*a_, to_b, data, 2);
  ASSERT_TRUE(drive_until([&] { return probe.calls == 1; }));
  const std::uint64_t asked = a_->counters()[protocol::Counter::recv_pull_request];
  b_->reenable_progression();
  // b makes no further call.
  Completion completion;
  bool done = false;
  EXPECT_TRUE(becomes_true([&] {
    done = a_->test(large, completion) == WaitOutcome::done;
    return done || a_->counters()[protocol::Counter::recv_pull_request] > asked;
  }));
  if (!done) complete(*a_, large);
}

// Stays in the handler long enough for other threads to find it there.
HandlerProbe slow_handler(Endpoint* endpoint, std::atomic<bool>& inside, std::atomic<bool>& left) {
  HandlerProbe probe{endpoint, {}};
  probe.action = [&](const Arrival&) {
    inside = true;
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    left = true;
    return HandlerAction::proceed;
  };
  return probe;
}

TEST_F(endpoint, disable_progression__waits_for_a_running_handler) {
  const Address to_b = connect(*a_, *b_);
  std::atomic<bool> inside{false}, left{false};
  HandlerProbe probe = slow_handler(b_, inside, left);
  b_->set_unexpected_handler({HandlerProbe::entry, nullptr, &probe, nullptr});
  send(*a_, to_b, pattern(16, 1), 1, true);
  {
    Background driver([&] { b_->progress(); });
    ASSERT_TRUE(becomes_true([&] { return inside.load(); }));
    EXPECT_FALSE(b_->in_handler());  // not on this thread
    b_->disable_progression();
    EXPECT_TRUE(left);
  }
}

// --- fork
// ----------------------------------------------------------------------------------------------------

TEST_F(endpoint, fork__the_child_is_refused_and_the_parent_undisturbed) {
  const Address to_b = connect(*a_, *b_);
  Bytes buffer(16);
  Request* receive = post(*b_, buffer, 1);
  EXPECT_TRUE(in_child([&] {
    Completion completion;
    const bool refused = !a_->send(to_b, {}) && a_->test(receive, completion) != WaitOutcome::done &&
                         a_->wait_any(0, 0, kForever, completion) == WaitOutcome::woken;
    a_->progress();
    const bool open_refused = !process_->open({});
    const bool close_refused = !process_->close(a_);
    process_.reset();
    return refused && open_refused && close_refused;
  }));
  send(*a_, to_b, pattern(16, 1), 1, true);
  EXPECT_EQ(complete(*b_, receive).status, Status::success);
}

// While the child lives, the parent's endpoint id is free again as soon as the parent closes it.
TEST_F(endpoint, fork__the_child_keeps_nothing_open) {
  const std::uint32_t id = b_->id();
  int gate[2], born[2];
  ASSERT_EQ(::pipe(gate), 0);
  ASSERT_EQ(::pipe(born), 0);
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  char byte = 0;
  if (child == 0) {
    ::close(gate[1]);
    if (::write(born[1], &byte, 1) != 1) ::_exit(1);
    [[maybe_unused]] const ssize_t n = ::read(gate[0], &byte, 1);  // until the parent closes its end
    ::_exit(0);
  }
  ::close(gate[0]);
  ASSERT_EQ(::read(born[0], &byte, 1), 1);
  ASSERT_TRUE(process_->close(b_));
  b_ = open(*process_, "v1", id);
  EXPECT_NE(b_, nullptr);
  ::close(born[0]);
  ::close(born[1]);
  ::close(gate[1]);
  ::waitpid(child, nullptr, 0);
}

// The child may open endpoints again.
TEST_F(endpoint, fork__the_child_can_have_endpoints_of_its_own) {
  EXPECT_TRUE(in_child([&] {
    process_.reset();
    auto own = process_create(settings());
    if (!own) return false;
    Endpoint* fresh = open(*own, "v0");
    return fresh && own->close(fresh);
  }));
}

// A handler takes a lock of the application that another thread holds while it calls us.
TEST_F(endpoint, handler__runs_without_the_endpoints_lock) {
  const Address to_b = connect(*a_, *b_);
  std::mutex application;
  std::atomic<bool> inside{false};
  HandlerProbe probe{b_, {}};
  probe.action = [&](const Arrival&) {
    inside = true;
    const std::lock_guard guard(application);
    return HandlerAction::proceed;
  };
  b_->set_unexpected_handler({HandlerProbe::entry, nullptr, &probe, nullptr});
  Bytes first(16), second(16);
  {
    std::unique_lock held(application);
    send(*a_, to_b, pattern(16, 1), 1, true);
    send(*a_, to_b, pattern(16, 2), 2, true);
    Background driver([&] { b_->progress(); });
    ASSERT_TRUE(becomes_true([&] { return inside.load(); }));
    Request* mine = post(*b_, first, 1);  // while the handler decides about this very message
    Completion completion;
    EXPECT_FALSE(b_->test(mine, completion) == WaitOutcome::done);
    EXPECT_EQ(b_->wait(mine, 20, completion), WaitOutcome::timed_out);
    EXPECT_EQ(probe.calls, 1);
    held.unlock();
    EXPECT_EQ(b_->wait(mine, kForever, completion), WaitOutcome::done);
    EXPECT_EQ(completion.status, Status::success);
    EXPECT_TRUE(first == pattern(16, 1));
    EXPECT_EQ(b_->wait(post(*b_, second, 2), kForever, completion), WaitOutcome::done);
  }
  EXPECT_TRUE(second == pattern(16, 2));
}

TEST_F(endpoint, close__waits_for_a_running_handler) {
  const Address to_b = connect(*a_, *b_);
  std::atomic<bool> inside{false}, left{false};
  HandlerProbe probe = slow_handler(b_, inside, left);
  b_->set_unexpected_handler({HandlerProbe::entry, nullptr, &probe, nullptr});
  send(*a_, to_b, pattern(16, 1), 1, true);
  Completion completion;
  std::thread waiter([&] { b_->wait_any(0, 0, kForever, completion); });
  ASSERT_TRUE(becomes_true([&] { return inside.load(); }));
  EXPECT_TRUE(process_->close(b_));
  EXPECT_TRUE(left);
  waiter.join();
}

// A thread sends to its own endpoint while another one runs the handler. It waits for its turn.
TEST_F(endpoint, handler__one_at_a_time) {
  const Address to_b = connect(*a_, *b_);
  std::atomic<int> running{0}, most{0};
  HandlerProbe probe{b_, {}};
  probe.action = [&](const Arrival&) {
    most = std::max(most.load(), ++running);
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    running--;
    return HandlerAction::finished;
  };
  b_->set_unexpected_handler({HandlerProbe::entry, nullptr, &probe, nullptr});
  send(*a_, to_b, pattern(16, 1), 1, true);
  {
    Background driver([&] { b_->progress(); });
    ASSERT_TRUE(becomes_true([&] { return running.load() > 0; }));
    send(*b_, b_->address(), pattern(16, 1), 2, true);
  }
  EXPECT_EQ(probe.calls, 2);
  EXPECT_EQ(most, 1);
}

TEST_F(endpoint, disconnect__forgets_the_context) {
  const Address to_b = connect(*a_, *b_);
  EXPECT_TRUE(a_->set_address_context(to_b, this));
  EXPECT_TRUE(a_->disconnect(to_b));
  EXPECT_EQ(a_->address_context(connect(*a_, *b_)), nullptr);
}

}  // namespace
}  // namespace omx::runtime
