// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/endpoint/counters_shared.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>

#include "tests/support/child.h"

namespace omx::runtime {
namespace {

using protocol::Counter;
using testing::HasSubstr;

const std::uint32_t kIfindex = 1'100'000'000U + static_cast<std::uint32_t>(::getpid());

TEST(counters_read, of_another_process) {
  Child child([] {
    static Result<Claim> claim = claim_endpoint(kIfindex, 7);
    static std::unique_ptr<CounterSegment> segment = CounterSegment::create(kIfindex, 7);
    if (!claim || !segment) return false;
    segment->counters().engine[Counter::send_tiny] = 11;
    segment->counters().link.frames_sent = 12;
    segment->counters().wakeups = 13;
    segment->counters().local.direct_bytes = 14;
    return true;
  });
  ASSERT_TRUE(child.ok());
  const auto counters = counters_read(kIfindex, 7);
  ASSERT_TRUE(counters) << counters.error().message;
  EXPECT_EQ(counters->ifindex, kIfindex);
  EXPECT_EQ(counters->endpoint, 7U);
  EXPECT_EQ(counters->engine[Counter::send_tiny], 11U);
  EXPECT_EQ(counters->link.frames_sent, 12U);
  EXPECT_EQ(counters->wakeups, 13U);
  EXPECT_EQ(counters->local.direct_bytes, 14U);
}

TEST(counters_read, own) {
  const auto claim = claim_endpoint(kIfindex, 8);
  const auto segment = CounterSegment::create(kIfindex, 8);
  segment->counters().engine[Counter::recv_rndv] = 1;
  const auto counters = counters_read(kIfindex, 8);
  ASSERT_TRUE(counters) << counters.error().message;
  EXPECT_EQ(counters->engine[Counter::recv_rndv], 1U);
}

TEST(counters_read, not_open) {
  const auto counters = counters_read(kIfindex, 9);
  ASSERT_FALSE(counters);
  EXPECT_EQ(counters.error().mx_code, 9);
  EXPECT_THAT(counters.error().message, HasSubstr("not open"));
}

TEST(counters_read, other_version) {
  const auto claim = claim_endpoint(kIfindex, 10);
  const auto segment = CounterSegment::create(kIfindex, 10);
  segment->counters().count = 3;
  const auto counters = counters_read(kIfindex, 10);
  ASSERT_FALSE(counters);
  EXPECT_EQ(counters.error().mx_code, 38);
  EXPECT_THAT(counters.error().message, HasSubstr("another version"));
}

TEST(counters_read, other_user) {
  if (::getuid() != 0) GTEST_SKIP() << "needs root to become another user";
  const auto claim = claim_endpoint(kIfindex, 11);
  const auto segment = CounterSegment::create(kIfindex, 11);
  EXPECT_TRUE(in_child([] {
    if (::setuid(65534) != 0) return false;
    const auto counters = counters_read(kIfindex, 11);
    return !counters && counters.error().mx_code == 7;
  }));
}

TEST(counters_read, holder_without_segment) {
  const auto claim = claim_endpoint(kIfindex, 12);
  const auto counters = counters_read(kIfindex, 12);
  ASSERT_FALSE(counters);
  EXPECT_THAT(counters.error().message, HasSubstr("no counters"));
}

TEST(endpoint_read, torn_and_impossible_rows) {
  const auto claim = claim_endpoint(kIfindex, 13);
  const auto segment = CounterSegment::create(kIfindex, 13);
  SharedView& view = segment->view();
  view.begun = 2;
  view.ended = 1;
  view.snapshot.peer_rows = view.snapshot.pending_rows = 0xFFFFFFFF;
  view.history.count = 3;
  const auto shared = endpoint_read(kIfindex, 13);
  ASSERT_TRUE(shared) << shared.error().message;
  EXPECT_NE((*shared)->view.begun, (*shared)->view.ended) << "who stopped in the middle of it is seen";
  EXPECT_EQ((*shared)->view.snapshot.peer_rows, protocol::Snapshot::kPeers);
  EXPECT_EQ((*shared)->view.snapshot.pending_rows, protocol::Snapshot::kPending);
  EXPECT_EQ((*shared)->view.history.count, 3U);
}

unsigned byte_of(const bool& value) {
  unsigned char byte = 0;
  std::memcpy(&byte, &value, sizeof byte);
  return byte;
}

TEST(endpoint_read, bools_are_bools) {
  const auto claim = claim_endpoint(kIfindex, 14);
  const auto segment = CounterSegment::create(kIfindex, 14);
  SharedView& view = segment->view();
  std::memset(static_cast<void*>(&view.snapshot), 0xFF, sizeof view.snapshot);
  std::memset(static_cast<void*>(&view.stopped), 0xFF, sizeof view.stopped);
  const auto shared = endpoint_read(kIfindex, 14);
  ASSERT_TRUE(shared) << shared.error().message;
  const SharedView& read = (*shared)->view;
  EXPECT_EQ(byte_of(read.stopped), 1U);
  EXPECT_EQ(byte_of(read.snapshot.pending_cut), 1U);
  for (const protocol::PeerRow& p : read.snapshot.peer)
    for (const bool* b : {&p.self, &p.connected, &p.extended, &p.intra_node, &p.bulk_in, &p.bulk_out})
      EXPECT_EQ(byte_of(*b), 1U);
  for (const protocol::PendingRow& r : read.snapshot.pending)
    for (const bool* b : {&r.known_peer, &r.forgotten, &r.has_number}) EXPECT_EQ(byte_of(*b), 1U);
}

// Makes a FIFO without a writer, under a name that a memfd would have. It lies in a detached file system,
// where a path begins at its root.
bool fifo_as_segment(std::uint32_t endpoint) {
  static Result<Claim> claim = claim_endpoint(kIfindex, endpoint);
  char folder[] = "/tmp/omx-fifo-XXXXXX";
  if (!claim || ::unshare(CLONE_NEWNS) < 0 || !::mkdtemp(folder)) return false;
  bool made = ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
              ::mount("none", folder, "tmpfs", 0, nullptr) == 0;
  if (made) {
    const std::string name = fmt::format("{}/memfd:omx-counters-{}-{} (deleted)", folder, kIfindex, endpoint);
    const int fd = ::mkfifo(name.c_str(), 0600) < 0 ? -1 : ::open(name.c_str(), O_PATH | O_CLOEXEC);
    made = ::umount2(folder, MNT_DETACH) == 0 && fd >= 0;
  }
  ::rmdir(folder);
  return made;
}

TEST(counters_read, what_only_looks_like_a_segment) {
  Child child([] { return fifo_as_segment(15); });
  if (!child.ok()) GTEST_SKIP() << "needs the right to mount";
  const auto counters = counters_read(kIfindex, 15);
  ASSERT_FALSE(counters);
  EXPECT_THAT(counters.error().message, HasSubstr("no counters"));
}

}  // namespace
}  // namespace omx::runtime
