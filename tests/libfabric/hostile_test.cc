// SPDX-License-Identifier: BSD-3-Clause
// A peer that sends requests for memory as no provider would.
#include <unistd.h>
#include <atomic>
#include <cstring>
#include <thread>
#include "base/bytes.h"
#include "config/settings.h"
#include "config/settings_environment.h"
#include "fabric_pair.h"
#include "runtime/endpoint/engine_access.h"
#include "runtime/process/process.h"
namespace omx::fabric::test {
namespace {

using Clock = std::chrono::steady_clock;
class Hostile : public FabricTest {
 protected:
  void SetUp() override {
    FabricTest::SetUp();
    if (IsSkipped()) return;
    open();
    auto settings = runtime::settings_load();
    ASSERT_TRUE(settings);
    process = std::move(*runtime::Process::create(*settings));
    runtime::OpenOptions o;
    o.key = 0x6F6D7866;
    o.board = 0;
    auto e = process->open(o);
    ASSERT_TRUE(e) << e.error().message;
    evil = *e;
    const Bytes name = b.name();
    NicId nic = mac_load(name.data() + 8);
    auto r = evil->connect(nic, static_cast<std::uint8_t>(name[7]), 0x6F6D7866, 0, nullptr, false);
    runtime::Completion c;
    ASSERT_EQ(evil->wait(*r, 60000, c), runtime::WaitOutcome::done);
    ASSERT_EQ(c.status, protocol::Status::success);
    to = c.peer;
  }
  void TearDown() override {
    if (evil) process->close(evil);
    FabricTest::TearDown();
  }
  Bytes request(int kind, int flags, std::vector<fi_rma_iov> pieces, std::uint64_t bytes, std::uint64_t id) {
    Bytes m(32 + 24 * pieces.size());
    m[0] = std::byte(kind);
    m[1] = std::byte(flags);
    m[2] = std::byte(pieces.size());
    store_be64(m.data() + 8, id);
    store_be64(m.data() + 16, 666);
    store_be64(m.data() + 24, bytes);
    for (std::size_t i = 0; i < pieces.size(); i++) {
      std::byte* q = m.data() + 32 + 24 * i;
      store_be64(q, pieces[i].addr);
      store_be64(q + 8, pieces[i].len);
      store_be64(q + 16, pieces[i].key);
    }
    return m;
  }
  void post(const Bytes& m, std::uint8_t cls, std::uint64_t info) {
    runtime::EngineAccess d(*evil);
    protocol::SendOp op;
    op.peer = to;
    op.message_class = cls;
    op.match_info = info;
    op.forgotten = true;
    op.inject = true;
    protocol::Segment s{const_cast<std::byte*>(m.data()), static_cast<std::uint32_t>(m.size())};
    op.segments = {&s, 1};
    while (!d.engine().send(d.now(), op)) d.turn();
  }
  std::unique_ptr<runtime::Process> process;
  runtime::Endpoint* evil = nullptr;
  protocol::Peer* to = nullptr;
};

// A peer needs no key to make completions and counts.
TEST_F(Hostile, remote_data_without_a_key) {
  post(request(1, 1, {}, 0, 1), 3, 1);
  usleep(200'000);
  fi_cq_tagged_entry e{};
  const ssize_t got = fi_cq_read(b.cq, &e, 1);
  EXPECT_EQ(got, -FI_EAGAIN) << "an entry with data " << e.data;
}

// The peer begins a long write, and never sends its data.
TEST_F(Hostile, a_write_without_data_keeps_the_region) {
  Bytes memory(10000);
  fid_mr* mr = nullptr;
  ASSERT_EQ(fi_mr_reg(b.domain, memory.data(), memory.size(), FI_REMOTE_WRITE, 0, 42, 0, &mr, nullptr), 0);
  post(request(1, 2, {{0, 8000, 42}}, 8000, 1), 3, 1);
  usleep(200'000);
  std::atomic<bool> closed{false};
  std::thread t([&] {
    fi_close(&mr->fid);
    closed = true;
  });
  const auto limit = Clock::now() + std::chrono::seconds(10);  // OMX_PEER_TIMEOUT_MS is 3000
  while (!closed && Clock::now() < limit) {
    fi_cq_read(b.cq, nullptr, 0);
    usleep(1000);
  }
  const bool was = closed;
  EXPECT_TRUE(was) << "fi_close of the region hangs";
  if (!was) {
    process->close(evil);
    evil = nullptr;
  }
  t.join();
}

// Long writes without data would take unlimited memory.
TEST_F(Hostile, many_writes_without_data) {
  Bytes memory(10000);
  fid_mr* mr = nullptr;
  ASSERT_EQ(fi_mr_reg(b.domain, memory.data(), memory.size(), FI_REMOTE_WRITE, 0, 42, 0, &mr, nullptr), 0);
  const auto rss = [] {
    long p = 0, r = 0;
    FILE* f = fopen("/proc/self/statm", "r");
    if (fscanf(f, "%ld %ld", &p, &r)) {
    }
    fclose(f);
    return r * 4 / 1024;
  };
  const long before = rss();
  const Bytes m = request(1, 2, {{0, 8000, 42}}, 8000, 1);
  const auto limit = Clock::now() + std::chrono::seconds(4);
  long n = 0;
  for (; Clock::now() < limit && n < 300000; n++) {
    post(m, 3, 1);
    if (n % 32 == 0) {
      runtime::EngineAccess d(*evil);
      d.turn();
    }
    if (n % 256 == 0) fi_cq_read(b.cq, nullptr, 0);
  }
  printf("%ld requests, %ld MiB more\n", n, rss() - before);
  process->close(evil);
  evil = nullptr;
  fi_close(&mr->fid);
}

// Reads that are longer together than a message can be get no answer.
TEST_F(Hostile, read_of_32_gib) {
  static Bytes memory(100);
  fid_mr* mr = nullptr;
  ASSERT_EQ(fi_mr_reg(b.domain, memory.data(), ~std::size_t{0} / 2, FI_REMOTE_READ, 0, 42, 0, &mr, nullptr),
            0);
  std::vector<fi_rma_iov> p(8, {0, 0xFFFFFFFF, 42});
  post(request(2, 0, p, 8ULL * 0xFFFFFFFF, 1), 3, 1);
  usleep(300'000);
  EXPECT_EQ(fi_close(&mr->fid), 0);
}
}  // namespace
}  // namespace omx::fabric::test
