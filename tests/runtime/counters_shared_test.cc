// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/counters_shared.h"

#include <gmock/gmock.h>
#include <sys/mman.h>
#include <unistd.h>

#include "child.h"

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
  view.snapshot.partner_rows = view.snapshot.pending_rows = 0xFFFFFFFF;
  view.history.count = 3;
  const auto shared = endpoint_read(kIfindex, 13);
  ASSERT_TRUE(shared) << shared.error().message;
  EXPECT_NE((*shared)->view.begun, (*shared)->view.ended) << "who stopped in the middle of it is seen";
  EXPECT_EQ((*shared)->view.snapshot.partner_rows, protocol::Snapshot::kPartners);
  EXPECT_EQ((*shared)->view.snapshot.pending_rows, protocol::Snapshot::kPending);
  EXPECT_EQ((*shared)->view.history.count, 3U);
}

}  // namespace
}  // namespace omx::runtime
