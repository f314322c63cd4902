// SPDX-License-Identifier: BSD-3-Clause
// Threads that wait in calls, in poll() and with counters, and what wakes them (docs/spec/libfabric.md 6.5).
#include <poll.h>

#include <atomic>
#include <thread>

#include "base/clock.h"
#include "base/random.h"
#include "fabric_pair.h"

namespace omx::fabric::test {
namespace {

int x, y;  // contexts

class Waits : public FabricTest {
 protected:
  void open_waiting(fi_wait_obj wait) {
    End::Options options;
    options.wait = wait;
    open(options);
  }
  // Returns another thread that sends, and so makes progress.
  std::thread sender(std::uint64_t tag) {
    return std::thread([this, tag] {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      out = pattern(100, 1);
      EXPECT_EQ(fi_tsend(a.ep, out.data(), out.size(), nullptr, a_to_b, tag, &y), 0);
      fi_cq_tagged_entry entry;
      while (fi_cq_read(a.cq, &entry, 1) != 1) std::this_thread::yield();
    });
  }
  Bytes out, in = Bytes(100);
};

TEST_F(Waits, sread_sleeps_until_a_message_comes) {
  for (const fi_wait_obj wait : {FI_WAIT_NONE, FI_WAIT_UNSPEC, FI_WAIT_FD}) {
    open_waiting(wait);
    receive(b, in, 1, 0, &x);
    std::thread other = sender(1);
    fi_cq_tagged_entry entry{};
    fi_addr_t source = 0;
    EXPECT_EQ(fi_cq_sreadfrom(b.cq, &entry, 1, &source, nullptr, 60'000), 1);
    EXPECT_EQ(entry.op_context, &x);
    other.join();
    TearDown();
  }
}

TEST_F(Waits, sread_ends_with_its_time) {
  open_waiting(FI_WAIT_UNSPEC);
  fi_cq_tagged_entry entry{};
  EXPECT_EQ(fi_cq_sread(b.cq, &entry, 1, nullptr, 20), -FI_EAGAIN);
  EXPECT_EQ(fi_cq_sread(b.cq, &entry, 1, nullptr, 0), -FI_EAGAIN);
}

TEST_F(Waits, sread_ends_with_a_signal) {
  open_waiting(FI_WAIT_UNSPEC);
  std::thread other([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    EXPECT_EQ(fi_cq_signal(b.cq), 0);
  });
  fi_cq_tagged_entry entry{};
  EXPECT_EQ(fi_cq_sread(b.cq, &entry, 1, nullptr, -1), -FI_EAGAIN);
  other.join();
}

TEST_F(Waits, two_endpoints_of_a_domain_share_a_queue) {
  open_waiting(FI_WAIT_UNSPEC);
  fid_ep* second = nullptr;
  ASSERT_EQ(fi_endpoint(b.domain, b.info.get(), &second, nullptr), 0);
  ASSERT_EQ(fi_ep_bind(second, &b.av->fid, 0), 0);
  ASSERT_EQ(fi_ep_bind(second, &b.cq->fid, FI_TRANSMIT | FI_RECV), 0);
  ASSERT_EQ(fi_enable(second), 0);
  Bytes name(64);
  std::size_t length = name.size();
  ASSERT_EQ(fi_getname(&second->fid, name.data(), &length), 0);
  a_to_b = a.learn(name);
  EXPECT_EQ(fi_trecv(second, in.data(), in.size(), nullptr, FI_ADDR_UNSPEC, 1, 0, &x), 0);
  std::thread other = sender(1);
  fi_cq_tagged_entry entry{};
  EXPECT_EQ(fi_cq_sread(b.cq, &entry, 1, nullptr, 60'000), 1);
  EXPECT_EQ(entry.op_context, &x);
  other.join();
  EXPECT_EQ(fi_close(&second->fid), 0);
}

TEST_F(Waits, descriptors__as_a_list) {
  open_waiting(FI_WAIT_POLLFD);
  fi_wait_pollfd list{};
  EXPECT_EQ(fi_control(&b.cq->fid, FI_GETWAIT, &list), -FI_ETOOSMALL);
  ASSERT_EQ(list.nfds, 1U);
  pollfd wait{};
  list.fd = &wait;
  ASSERT_EQ(fi_control(&b.cq->fid, FI_GETWAIT, &list), 0);
  EXPECT_EQ(wait.events, POLLIN);
  receive(b, in, 1, 0, &x);
  fid* objects[] = {&b.cq->fid};
  EXPECT_EQ(fi_trywait(b.fabric, objects, 1), 0);
  std::thread other = sender(1);
  EXPECT_EQ(::poll(&wait, 1, 60'000), 1);
  other.join();
  fi_cq_tagged_entry entry{};
  EXPECT_EQ(fi_cq_read(b.cq, &entry, 1), 1);
}

TEST_F(Waits, in_poll) {
  open_waiting(FI_WAIT_FD);
  int fd = -1;
  ASSERT_EQ(fi_control(&b.cq->fid, FI_GETWAIT, &fd), 0);
  for (unsigned i = 0; i < 20; i++) {
    receive(b, in, i, 0, &x);
    fid* objects[] = {&b.cq->fid};
    EXPECT_EQ(fi_trywait(b.fabric, objects, 1), 0);
    std::thread other = sender(i);
    pollfd wait{fd, POLLIN, 0};
    EXPECT_EQ(::poll(&wait, 1, 60'000), 1);
    fi_cq_tagged_entry entry{};
    // An entry is there, so the next sleep must be refused until it is read.
    EXPECT_EQ(fi_trywait(b.fabric, objects, 1), -FI_EAGAIN);
    EXPECT_EQ(fi_cq_read(b.cq, &entry, 1), 1);
    EXPECT_EQ(entry.tag, i);
    other.join();
  }
}

// Another thread completes something at every moment of fi_trywait(), and the sleep that follows must end.
// If a wake-up is missed, poll() takes all of its ten seconds.
TEST_F(Waits, in_poll__no_completion_is_missed) {
  open_waiting(FI_WAIT_FD);
  const fi_addr_t self = b.learn(b);
  int fd = -1;
  ASSERT_EQ(fi_control(&b.cq->fid, FI_GETWAIT, &fd), 0);
  constexpr unsigned kMessages = 200'000;
  std::atomic<unsigned> wanted{0};
  std::atomic<bool> over{false};
  std::thread other([&] {
    Random random(1);
    for (unsigned i = 1; i <= kMessages; i++) {
      while (wanted < i && !over) cpu_relax();
      if (over) return;
      for (std::uint64_t spins = random.below(4000); spins > 0; spins--) asm volatile("");
      while (fi_tinject(b.ep, &i, sizeof i, self, i) == -FI_EAGAIN) std::this_thread::yield();
    }
  });
  const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(8);
  fid* objects[] = {&b.cq->fid};
  bool missed = false;
  for (unsigned i = 1; i <= kMessages && !missed && std::chrono::steady_clock::now() < limit; i++) {
    receive(b, in, i, 0, &x);
    wanted = i;
    fi_cq_tagged_entry entry{};
    while (!missed && fi_cq_read(b.cq, &entry, 1) == -FI_EAGAIN) {
      pollfd wait{fd, POLLIN, 0};
      missed = fi_trywait(b.fabric, objects, 1) == 0 && ::poll(&wait, 1, 10'000) == 0;
      EXPECT_FALSE(missed) << "nobody woke the sleeper for message " << i;
    }
  }
  over = true;
  other.join();
}

TEST_F(Waits, counters_count_each_kind) {
  End::Options options;
  options.enable = false;
  options.bind = FI_TRANSMIT | FI_RECV | FI_SELECTIVE_COMPLETION;
  open(options);
  fid_cntr* sent = nullptr;
  fid_cntr* received = nullptr;
  fi_cntr_attr attr{};
  ASSERT_EQ(fi_cntr_open(a.domain, &attr, &sent, nullptr), 0);
  ASSERT_EQ(fi_cntr_open(b.domain, &attr, &received, nullptr), 0);
  ASSERT_EQ(fi_ep_bind(a.ep, &sent->fid, FI_SEND), 0);
  ASSERT_EQ(fi_ep_bind(b.ep, &received->fid, FI_RECV), 0);
  ASSERT_EQ(fi_enable(a.ep), 0);
  ASSERT_EQ(fi_enable(b.ep), 0);
  a_to_b = a.learn(b);
  for (unsigned i = 0; i < 10; i++) receive(b, in, i, 0, &x);
  std::thread other([&] {
    const Bytes data(100);
    for (unsigned i = 0; i < 10; i++) EXPECT_EQ(fi_tinject(a.ep, data.data(), data.size(), a_to_b, i), 0);
    EXPECT_EQ(fi_cntr_wait(sent, 10, 60'000), 0);
  });
  EXPECT_EQ(fi_cntr_wait(received, 10, 60'000), 0);
  EXPECT_EQ(fi_cntr_read(received), 10U);
  EXPECT_EQ(fi_cntr_wait(received, 11, 20), -FI_ETIMEDOUT);
  other.join();
  // An error ends the wait of a thread that waits for a count.
  EXPECT_EQ(fi_trecv(b.ep, in.data(), 1, nullptr, FI_ADDR_UNSPEC, 1, 0, &x), 0);
  out = pattern(50, 2);
  EXPECT_EQ(fi_tinject(a.ep, out.data(), 50, a_to_b, 1), 0);
  EXPECT_EQ(fi_cntr_wait(received, 11, 60'000), -FI_EAVAIL);
  EXPECT_EQ(fi_cntr_readerr(received), 1U);
  EXPECT_EQ(fi_cntr_set(received, 5), 0);
  EXPECT_EQ(fi_cntr_add(received, 2), 0);
  EXPECT_EQ(fi_cntr_read(received), 7U);
  EXPECT_EQ(fi_close(&received->fid), -FI_EBUSY);
  for (End* end : {&a, &b}) EXPECT_EQ(fi_close(&std::exchange(end->ep, nullptr)->fid), 0);
  EXPECT_EQ(fi_close(&sent->fid), 0);
  EXPECT_EQ(fi_close(&received->fid), 0);
}

// mpich#4781: a thread that waits with nothing but a counter drives the receiving side as well.
TEST_F(Waits, reading_a_counter_moves_everything) {
  End::Options options;
  options.enable = false;
  open(options);
  fid_cntr* counter = nullptr;
  fi_cntr_attr attr{};
  ASSERT_EQ(fi_cntr_open(b.domain, &attr, &counter, nullptr), 0);
  ASSERT_EQ(fi_ep_bind(b.ep, &counter->fid, FI_RECV), 0);
  ASSERT_EQ(fi_enable(a.ep), 0);
  ASSERT_EQ(fi_enable(b.ep), 0);
  a_to_b = a.learn(b);
  receive(b, in, 1, 0, &x);
  send(a, a_to_b, pattern(100, 1), 1);
  const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (fi_cntr_read(counter) < 1 && std::chrono::steady_clock::now() < limit) fi_cq_read(a.cq, nullptr, 0);
  EXPECT_EQ(fi_cntr_read(counter), 1U);
  EXPECT_EQ(in, pattern(100, 1));
  EXPECT_EQ(fi_close(&std::exchange(b.ep, nullptr)->fid), 0);
  EXPECT_EQ(fi_close(&counter->fid), 0);
}

// lf#4700: a call without room for entries makes progress, and says whether there are any.
TEST_F(Waits, reading_nothing) {
  open();
  EXPECT_EQ(fi_cq_read(b.cq, nullptr, 0), -FI_EAGAIN);
  receive(b, in, 1, 0, &x);
  send(a, a_to_b, pattern(100, 1), 1);
  const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (fi_cq_read(b.cq, nullptr, 0) != 0 && std::chrono::steady_clock::now() < limit)
    fi_cq_read(a.cq, nullptr, 0);
  EXPECT_EQ(fi_cq_read(b.cq, nullptr, 0), 0);
  EXPECT_EQ(ended(b, &x).good.op_context, &x);
}

// A second endpoint is opened while a thread sleeps in the call.
TEST_F(Waits, an_endpoint_that_comes_later_wakes_too) {
  open_waiting(FI_WAIT_UNSPEC);
  fid_ep* second = nullptr;
  std::thread sleeper([&] {
    fi_cq_tagged_entry entry{};
    EXPECT_EQ(fi_cq_sread(b.cq, &entry, 1, nullptr, -1), 1);
    EXPECT_EQ(entry.op_context, &x);
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  ASSERT_EQ(fi_endpoint(b.domain, b.info.get(), &second, nullptr), 0);
  ASSERT_EQ(fi_ep_bind(second, &b.av->fid, 0), 0);
  ASSERT_EQ(fi_ep_bind(second, &b.cq->fid, FI_TRANSMIT | FI_RECV), 0);
  ASSERT_EQ(fi_enable(second), 0);
  EXPECT_EQ(fi_trecv(second, in.data(), in.size(), nullptr, FI_ADDR_UNSPEC, 1, 0, &x), 0);
  Bytes name(64);
  std::size_t length = name.size();
  ASSERT_EQ(fi_getname(&second->fid, name.data(), &length), 0);
  a_to_b = a.learn(name);
  std::thread other = sender(1);
  sleeper.join();
  other.join();
  EXPECT_EQ(fi_close(&second->fid), 0);
}

// Without the functions of libfabric's headers, which version 2 calls deprecated.
TEST_F(Waits, poll_sets) {
  open();
  fid_poll* set = nullptr;
  fi_poll_attr attr{};
  ASSERT_EQ(b.domain->ops->poll_open(b.domain, &attr, &set), 0);
  EXPECT_EQ(set->ops->poll_add(set, &b.cq->fid, 0), 0);
  void* contexts[2] = {};
  EXPECT_EQ(set->ops->poll(set, contexts, 2), 0);
  receive(b, in, 1, 0, &x);
  send(a, a_to_b, pattern(100, 1), 1);
  int found = 0;
  const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (!found && std::chrono::steady_clock::now() < limit) {
    fi_cq_read(a.cq, nullptr, 0);
    found = set->ops->poll(set, contexts, 2);
  }
  EXPECT_EQ(found, 1);
  EXPECT_EQ(set->ops->poll_del(set, &b.cq->fid, 0), 0);
  EXPECT_EQ(set->ops->poll_del(set, &b.cq->fid, 0), -FI_EINVAL);
  EXPECT_EQ(fi_close(&set->fid), 0);
}

// While the application computes, rendezvous and pulls go on without a call of the receiver.
TEST_F(Waits, progress_without_calls) {
  open();
  Bytes large(2'000'000);
  receive(b, large, 1, 0, &x);
  const Bytes data = pattern(large.size(), 1);
  EXPECT_EQ(fi_tsend(a.ep, data.data(), data.size(), nullptr, a_to_b, 1, &y), 0);
  // The send ends when the receiver has pulled all of it.
  fi_cq_tagged_entry entry{};
  EXPECT_TRUE(link::becomes_true([&] { return fi_cq_read(a.cq, &entry, 1) == 1; }));
  EXPECT_EQ(entry.op_context, &y);
  EXPECT_FALSE(ended(b, &x).failed);
  EXPECT_EQ(large, data);
}

// SOS#1241: sends, receives and queue reads of many threads at once.
TEST_F(Waits, many_threads) {
  open();
  constexpr int kThreads = 4, kMessages = 200;
  std::atomic<int> received{0};
  std::atomic<bool> stop{false};
  std::vector<std::thread> threads;
  std::vector<Bytes> rooms(kThreads * kMessages, Bytes(600));
  for (int t = 0; t < kThreads; t++) {
    threads.emplace_back([&, t] {
      const Bytes data = pattern(600, static_cast<unsigned>(t));
      for (int i = 0; i < kMessages; i++) {
        Bytes& room = rooms[static_cast<std::size_t>(t * kMessages + i)];
        EXPECT_EQ(fi_trecv(b.ep, room.data(), room.size(), nullptr, FI_ADDR_UNSPEC, static_cast<unsigned>(t),
                           0, &x),
                  0);
        ssize_t result = 0;
        while ((result = fi_tinject(a.ep, data.data(), data.size(), a_to_b, static_cast<unsigned>(t))) ==
               -FI_EAGAIN)
          std::this_thread::yield();
        EXPECT_EQ(result, 0);
      }
    });
  }
  for (int t = 0; t < 2; t++) {
    threads.emplace_back([&] {
      fi_cq_tagged_entry entries[4];
      while (!stop) {
        const ssize_t got = fi_cq_sread(b.cq, entries, 4, nullptr, 5);
        if (got > 0) received += static_cast<int>(got);
      }
    });
  }
  const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (received < kThreads * kMessages && std::chrono::steady_clock::now() < limit)
    fi_cq_read(a.cq, nullptr, 0);
  EXPECT_EQ(received, kThreads * kMessages);
  stop = true;
  for (auto& t : threads) t.join();
  for (int t = 0; t < kThreads; t++)
    for (int i = 0; i < kMessages; i++)
      EXPECT_EQ(rooms[static_cast<std::size_t>(t * kMessages + i)], pattern(600, static_cast<unsigned>(t)));
}

}  // namespace
}  // namespace omx::fabric::test
