// SPDX-License-Identifier: BSD-3-Clause
// Faults that a review of the provider found, one test each.
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include <atomic>
#include <cstring>
#include <thread>
#include "fabric_pair.h"
#include "libfabric/versions.h"
namespace omx::fabric::test {
namespace {
int x, y;
class Regressions : public FabricTest {};
using Clock = std::chrono::steady_clock;

// 1. A program that only injects, and reads no queue, got EAGAIN indefinitely.
TEST_F(Regressions, inject_until_it_works) {
  open();
  Bytes out(100);
  std::vector<Bytes> in(3000, Bytes(100));
  for (auto& m : in) receive(b, m, 1, 0, &x);
  std::atomic<bool> stop{false};
  std::atomic<int> received{0};
  std::thread other([&] {
    fi_cq_tagged_entry e;
    while (!stop) received += fi_cq_read(b.cq, &e, 1) == 1;
  });
  const auto limit = Clock::now() + std::chrono::seconds(60);
  int sent = 0;
  long again = 0;
  while (sent < 3000 && Clock::now() < limit) {
    const ssize_t r = fi_tinject(a.ep, out.data(), out.size(), a_to_b, 1);
    if (r == 0)
      sent++;
    else {
      ASSERT_EQ(r, -FI_EAGAIN);
      again++;
    }
  }
  // The memory belongs to the provider until all messages have been received.
  while (received < sent && Clock::now() < limit) fi_cq_read(a.cq, nullptr, 0);
  stop = true;
  other.join();
  EXPECT_EQ(sent, 3000) << again << " times EAGAIN";
  EXPECT_EQ(received, sent);
}

TEST_F(Regressions, inject_to_several_until_it_works) {
  open();
  End c, d, e4;
  c.open("v1");
  d.open("v1");
  e4.open("v1");
  const fi_addr_t to[4] = {a_to_b, a.learn(c), a.learn(d), a.learn(e4)};
  Bytes out(100);
  // connect first
  for (const fi_addr_t t : to) {
    send(a, t, Bytes(1), 9, &x);
    EXPECT_FALSE(ended(a, &x).failed);
  }
  for (int i = 0; i < 300; i++) {
    fi_cq_read(a.cq, nullptr, 0);
    usleep(100);
  }
  const auto limit = Clock::now() + std::chrono::seconds(60);
  int sent = 0;
  long again = 0, row = 0;
  while (sent < 5000 && Clock::now() < limit) {
    const ssize_t r = fi_tinject(a.ep, out.data(), out.size(), to[sent % 4], 1);
    if (r == 0)
      sent++, row = 0;
    else {
      ASSERT_EQ(r, -FI_EAGAIN);
      again++;
      row++;
    }
  }
  EXPECT_EQ(sent, 5000) << again << " times EAGAIN, the last " << row << " in a row";
}

// 2. RMA to the successor of a peer.
TEST_F(Regressions, rma_to_a_successor) {
  open();
  Bytes memory(100), in(100);
  fid_mr* mr = nullptr;
  ASSERT_EQ(fi_mr_reg(b.domain, memory.data(), 100, FI_REMOTE_READ | FI_REMOTE_WRITE, 0, 42, 0, &mr, nullptr),
            0);
  EXPECT_EQ(fi_read(a.ep, in.data(), 100, nullptr, a_to_b, 0, 42, &x), 0);
  EXPECT_FALSE(ended(a, &x).failed);
  EXPECT_EQ(fi_close(&mr->fid), 0);
  b.close();
  b.open("v1");
  ASSERT_EQ(fi_mr_reg(b.domain, memory.data(), 100, FI_REMOTE_READ | FI_REMOTE_WRITE, 0, 42, 0, &mr, nullptr),
            0);
  const fi_addr_t successor = a.learn(b);
  const Bytes out = pattern(100, 9);
  EXPECT_EQ(fi_write(a.ep, out.data(), 100, nullptr, successor, 0, 42, &x), 0);
  const Event got = ended(a, &x);
  EXPECT_FALSE(got.failed) << fi_strerror(got.error.err);
  quiet(b);
  EXPECT_EQ(memory == out, !got.failed) << "told failed, but it was written";
  EXPECT_EQ(fi_close(&mr->fid), 0);
}

// 3. The largest read.
TEST_F(Regressions, read_of_max_msg_size) {
  open();
  const std::size_t size = a.info->ep_attr->max_msg_size;
  void* from =
      ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  void* to =
      ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  ASSERT_NE(from, MAP_FAILED);
  ASSERT_NE(to, MAP_FAILED);
  fid_mr* mr = nullptr;
  ASSERT_EQ(fi_mr_reg(b.domain, from, size, FI_REMOTE_READ, 0, 42, 0, &mr, nullptr), 0);
  const ssize_t r = fi_read(a.ep, to, size, nullptr, a_to_b, 0, 42, &x);
  if (r == 0) {
    const auto limit = Clock::now() + std::chrono::seconds(200);
    bool ended_ = false;
    fi_cq_tagged_entry e;
    while (!ended_ && Clock::now() < limit) {
      const ssize_t got = fi_cq_read(a.cq, &e, 1);
      ended_ = got == 1 || got == -FI_EAVAIL;
      fi_cq_read(b.cq, nullptr, 0);
    }
    EXPECT_TRUE(ended_) << "never answered";
  }
  fi_close(&mr->fid);
}

// 5.
TEST_F(Regressions, errors_of_a_counter_reset) {
  End::Options options;
  options.enable = false;
  open(options);
  fid_cntr* c = nullptr;
  fi_cntr_attr attr{};
  ASSERT_EQ(fi_cntr_open(a.domain, &attr, &c, nullptr), 0);
  EXPECT_EQ(fi_cntr_adderr(c, 3), 0);
  EXPECT_EQ(fi_cntr_readerr(c), 3U);
  EXPECT_EQ(fi_cntr_seterr(c, 0), 0);
  EXPECT_EQ(fi_cntr_wait(c, 1, 20), -FI_ETIMEDOUT);
  fi_close(&c->fid);
}

// 6. In a forked child getinfo offered what could not be opened.
TEST_F(Regressions, child_that_opens_its_own) {
  Info mine = info_of("v0", hints().get());
  ASSERT_TRUE(mine);
  const pid_t child = ::fork();
  if (child == 0) {
    Info info = info_of("v0", hints().get());
    if (!info) ::_exit(0);  // the refusal is right
    fid_fabric* f = nullptr;
    fid_domain* d = nullptr;
    fid_av* av = nullptr;
    fid_cq* cq = nullptr;
    fid_ep* ep = nullptr;
    fi_av_attr aa{};
    fi_cq_attr ca{};
    int r = fi_fabric(info->fabric_attr, &f, nullptr);
    if (!r) r = fi_domain(f, info.get(), &d, nullptr);
    if (!r) r = fi_av_open(d, &aa, &av, nullptr);
    if (!r) r = fi_cq_open(d, &ca, &cq, nullptr);
    if (!r) r = fi_endpoint(d, info.get(), &ep, nullptr);
    if (!r) r = fi_ep_bind(ep, &av->fid, 0);
    if (!r) r = fi_ep_bind(ep, &cq->fid, FI_TRANSMIT | FI_RECV);
    if (!r) r = fi_enable(ep);
    ::_exit(r ? -r : 0);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(WEXITSTATUS(status), 0) << fi_strerror(WEXITSTATUS(status));
}

// 7. An operation without a completion and without a context fails with the context of the endpoint
// (fi_endpoint(3)). Open MPI is an exception, because it asserts.
TEST_F(Regressions, error_without_context) {
  End::Options options;
  options.bind = FI_TRANSMIT | FI_RECV | FI_SELECTIVE_COMPLETION;
  open(options);
  Bytes name = a.name();
  name[13] ^= std::byte{0x55};
  fi_msg_tagged m{};
  m.addr = a.learn(name);
  m.tag = 1;
  EXPECT_EQ(fi_tsendmsg(a.ep, &m, 0), 0);
  const auto limit = Clock::now() + std::chrono::seconds(4);
  ssize_t got = 0;
  fi_cq_tagged_entry e;
  while ((got = fi_cq_read(a.cq, &e, 1)) == -FI_EAGAIN && Clock::now() < limit) {
  }
  ASSERT_EQ(got, -FI_EAVAIL);
  fi_cq_err_entry error{};
  EXPECT_EQ(fi_cq_readerr(a.cq, &error, 0), 1);
  EXPECT_EQ(error.op_context, a.ep->fid.context);
  EXPECT_NE(error.err, 0);
}

// 8. The endpoint is closed while other threads sleep on its queue.
TEST_F(Regressions, close_under_sread) {
  End::Options options;
  options.wait = FI_WAIT_UNSPEC;
  open(options);
  std::atomic<bool> stop{false};
  std::vector<std::thread> t;
  for (int i = 0; i < 2; i++)
    t.emplace_back([&] {
      fi_cq_tagged_entry e;
      while (!stop) {
        fi_cq_sread(b.cq, &e, 1, nullptr, 1);
        fi_cq_signal(b.cq);
      }
    });
  for (int i = 0; i < 150; i++) {
    ASSERT_EQ(fi_close(&b.ep->fid), 0);
    b.ep = nullptr;
    ASSERT_EQ(fi_endpoint(b.domain, b.info.get(), &b.ep, nullptr), 0);
    ASSERT_EQ(fi_ep_bind(b.ep, &b.av->fid, 0), 0);
    ASSERT_EQ(fi_ep_bind(b.ep, &b.cq->fid, FI_TRANSMIT | FI_RECV), 0);
    ASSERT_EQ(fi_enable(b.ep), 0);
  }
  stop = true;
  for (auto& u : t) u.join();
}

// 9. sread without a timeout: two threads wait, and one entry comes.
TEST_F(Regressions, sread_two_waiters) {
  End::Options options;
  options.wait = FI_WAIT_UNSPEC;
  open(options);
  Bytes in(10);
  std::atomic<int> good{0}, again{0};
  std::vector<std::thread> t;
  for (int i = 0; i < 2; i++)
    t.emplace_back([&] {
      fi_cq_tagged_entry e;
      const ssize_t r = fi_cq_sread(b.cq, &e, 1, nullptr, -1);
      if (r == 1)
        good++;
      else if (r == -FI_EAGAIN)
        again++;
    });
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  receive(b, in, 1, 0, &x);
  send(a, a_to_b, Bytes(10), 1, &y);
  EXPECT_TRUE(link::becomes_true([&] { return fi_cq_read(a.cq, nullptr, 0), good == 1; }));
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  EXPECT_EQ(good, 1);
  EXPECT_EQ(again, 0) << "infinite sread came back with EAGAIN";
  fi_cq_signal(b.cq);
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  fi_cq_signal(b.cq);
  for (auto& u : t) u.join();
}
// 10. Hints with both old modes.
TEST_F(Regressions, mr_modes) {
  Info h = hints();
  h->domain_attr->mr_mode = kMrBasic | kMrScalable;
  Info i = info_of("v0", h.get());
  if (i) {
    EXPECT_NE(i->domain_attr->mr_mode, kMrBasic | kMrScalable);
  }
}
// 11. basic
TEST_F(Regressions, mr_basic) {
  Info h = hints();
  h->domain_attr->mr_mode = kMrBasic;
  Info i = info_of("v0", h.get());
  ASSERT_TRUE(i);
  fid_fabric* f;
  fid_domain* d;
  fid_mr *m1, *m2;
  char mem[100];
  ASSERT_EQ(fi_fabric(i->fabric_attr, &f, nullptr), 0);
  ASSERT_EQ(fi_domain(f, i.get(), &d, nullptr), 0);
  ASSERT_EQ(fi_mr_reg(d, mem, 100, FI_REMOTE_READ, 0, 0, 0, &m1, nullptr), 0);
  ASSERT_EQ(fi_mr_reg(d, mem, 100, FI_REMOTE_READ, 0, 0, 0, &m2, nullptr), 0);
  EXPECT_NE(fi_mr_key(m1), fi_mr_key(m2));
  fi_close(&m1->fid);
  fi_close(&m2->fid);
  fi_close(&d->fid);
  fi_close(&f->fid);
}

TEST_F(Regressions, close_after_many_injects_unconnected) {
  open();
  int n = 0;
  for (int i = 0; i < 1000; i++)
    if (fi_tinject(a.ep, pattern(3000, i).data(), 3000, a_to_b, i) == 0)
      n++;
    else
      break;
  printf("%d injected\n", n);
  a_moves = false;
  std::thread closing([&] { a.close(); });
  Bytes in(3000);
  for (int i = 0; i < n; i++) {
    receive(b, in, i, 0, &x);
    ASSERT_FALSE(ended(b, &x).failed) << i;
    ASSERT_EQ(in, pattern(3000, i));
  }
  closing.join();
}
TEST_F(Regressions, close_after_many_injected_writes) {
  open();
  Bytes memory(1000);
  fid_mr* mr = nullptr;
  ASSERT_EQ(fi_mr_reg(b.domain, memory.data(), 1000, FI_REMOTE_WRITE, 0, 42, 0, &mr, nullptr), 0);
  int n = 0;
  const char one = 1;
  for (int i = 0; i < 1000; i++)
    if (fi_inject_write(a.ep, &one, 1, a_to_b, i, 42) == 0)
      n++;
    else
      break;
  a_moves = false;
  a.close();
  EXPECT_TRUE(
      link::becomes_true([&] { return std::count(memory.begin(), memory.end(), std::byte{1}) == n; }));
  fi_close(&mr->fid);
}
TEST_F(Regressions, strerror_of_access_errors) {
  open();
  Bytes in(10);
  EXPECT_EQ(fi_read(a.ep, in.data(), 10, nullptr, a_to_b, 0, 1, &x), 0);
  Event e = ended(a, &x);
  printf("%d: %s\n", e.error.err, fi_cq_strerror(a.cq, e.error.prov_errno, nullptr, nullptr, 0));
  Bytes name = a.name();
  name[13] ^= std::byte{0x55};
  EXPECT_EQ(fi_read(a.ep, in.data(), 10, nullptr, a.learn(name), 0, 1, &x), 0);
  e = ended(a, &x);
  EXPECT_STRNE(fi_cq_strerror(a.cq, e.error.prov_errno, nullptr, nullptr, 0), "unknown")
      << e.error.err << " " << e.error.prov_errno;
}
TEST_F(Regressions, multi_cancel_while_one_arrives) {
  open();
  Bytes memory(1'000'000);
  fi_msg m{};
  iovec p{memory.data(), memory.size()};
  m.msg_iov = &p;
  m.iov_count = 1;
  m.addr = FI_ADDR_UNSPEC;
  m.context = &x;
  for (int k = 0; k < 30; k++) {
    EXPECT_EQ(fi_recvmsg(b.ep, &m, FI_MULTI_RECV | FI_COMPLETION), 0);
    const Bytes out = pattern(400'000, k);
    EXPECT_EQ(fi_send(a.ep, out.data(), out.size(), nullptr, a_to_b, &y), 0);
    for (int i = 0; i < k; i++) fi_cq_read(i % 3 ? b.cq : a.cq, nullptr, 0);
    const int r = fi_cancel(&b.ep->fid, &x);
    EXPECT_EQ(r, 0);
    int good = 0;
    Event e;
    for (;;) {
      e = ended(b, &x);
      if (e.failed) break;
      good++;
    }
    EXPECT_EQ(e.error.err, FI_ECANCELED);
    EXPECT_TRUE(e.error.flags & FI_MULTI_RECV);
    if (!good) {
      Bytes in(400'000);
      EXPECT_EQ(fi_recv(b.ep, in.data(), in.size(), nullptr, FI_ADDR_UNSPEC, &x), 0);
      EXPECT_FALSE(ended(b, &x).failed);
    }
    EXPECT_FALSE(ended(a, &y).failed);
  }
}

TEST_F(Regressions, claimed_into_nine_pieces) {
  open();
  send(a, a_to_b, pattern(90, 1), 1, &y);
  Bytes in(90);
  std::vector<iovec> v;
  for (int i = 0; i < 9; i++) v.push_back({in.data() + 10 * i, 10});
  fi_msg_tagged m{};
  m.addr = FI_ADDR_UNSPEC;
  m.tag = 1;
  m.context = &x;
  Event e;
  do {
    EXPECT_EQ(fi_trecvmsg(b.ep, &m, FI_PEEK | FI_CLAIM | FI_COMPLETION), 0);
    e = ended(b, &x);
  } while (e.failed);
  m.msg_iov = v.data();
  m.iov_count = 9;
  EXPECT_EQ(fi_trecvmsg(b.ep, &m, FI_CLAIM | FI_COMPLETION), -FI_EINVAL);
}
TEST_F(Regressions, both_only_send_then_receive) {
  open();
  const Bytes big(100'000);
  std::vector<Bytes> in(600, Bytes(100'000));
  int sa = 0, sb = 0;
  const auto limit = Clock::now() + std::chrono::seconds(3);
  while ((sa < 600 || sb < 600) && Clock::now() < limit) {
    if (sa < 600 && fi_tsend(a.ep, big.data(), big.size(), nullptr, a_to_b, 1, &x) == 0) sa++;
    if (sb < 600 && fi_tsend(b.ep, big.data(), big.size(), nullptr, b_to_a, 1, &x) == 0) sb++;
  }
  printf("%d %d\n", sa, sb);
  for (auto& m : in) {
    receive(a, m, 1, 0, &y);
    receive(b, m, 1, 0, &y);
  }
  for (int i = 0; i < 600; i++) {
    ASSERT_FALSE(ended(a, &y).failed);
    ASSERT_FALSE(ended(b, &y).failed);
  }
}
TEST_F(Regressions, rma_many_threads) {
  open();
  Bytes memory(100'000);
  fid_mr* mr = nullptr;
  ASSERT_EQ(fi_mr_reg(b.domain, memory.data(), memory.size(), FI_REMOTE_READ | FI_REMOTE_WRITE, 0, 42, 0, &mr,
                      nullptr),
            0);
  std::atomic<int> done{0};
  std::vector<std::thread> t;
  for (int k = 0; k < 3; k++)
    t.emplace_back([&, k] {
      static thread_local Bytes buf(20000);
      for (int i = 0; i < 300; i++) {
        const std::size_t n = i % 3 == 0 ? 8000 : 100;
        while ((i % 2 ? fi_write(a.ep, buf.data(), n, nullptr, a_to_b, 20000 * k, 42, &x)
                      : fi_read(a.ep, buf.data(), n, nullptr, a_to_b, 20000 * k, 42, &x)) == -FI_EAGAIN) {
        }
        fi_cq_tagged_entry e;
        if (fi_cq_read(a.cq, &e, 1) == 1) done++;
        if (i % 10 == 0) {
          fi_addr_t n2;
          Bytes name = b.name();
          fi_av_insert(a.av, name.data(), 1, &n2, 0, nullptr);
        }
      }
      while (done < 900) {
        fi_cq_tagged_entry e;
        if (fi_cq_read(a.cq, &e, 1) == 1) done++;
      }
    });
  for (auto& u : t) u.join();
  EXPECT_EQ(done, 900);
  fi_close(&mr->fid);
}
}  // namespace
}  // namespace omx::fabric::test
