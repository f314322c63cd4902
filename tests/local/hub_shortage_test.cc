// SPDX-License-Identifier: BSD-3-Clause
// Hubs that need a descriptor when none is left.
#include <algorithm>

#include "hub_site.h"
#include "tests/support/no_descriptor.h"

namespace omx::local {
namespace {

TEST_F(HubTest, unknown_peers__while_no_descriptor_is_free_nobody_is_woken_for_ever) {
  const OwnFd connection = socket_to(b.place());
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  rlimit none = before;
  none.rlim_cur = 0;
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &none), 0);
  for (int i = 0; i < 3; i++) b.turn();
  const bool busy = wakes(b), masked = b->masked();
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
  EXPECT_FALSE(busy);
  EXPECT_TRUE(masked);
  const SharedMemory memory = SharedMemory::create(ring_memory(kRingBytes));
  ASSERT_TRUE(hello_send(connection.get(), hello_of({kNic, 5}), memory.descriptor()));
  b.turn();
  EXPECT_FALSE(b->masked());
  EXPECT_FALSE(hung_up(connection)) << "let in";
}

TEST_F(HubTest, no_descriptor_for_a_connection__is_told_once_with_the_remedy) {
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  testing::internal::CaptureStderr();
  rlimit none = before;
  none.rlim_cur = 0;
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &none), 0);
  send(a, b, 1);
  send(a, b, 2);
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
  const std::string told = testing::internal::GetCapturedStderr();
  EXPECT_THAT(told, testing::HasSubstr("no connection to endpoint"));
  EXPECT_THAT(told, testing::HasSubstr("ulimit -n"));
  EXPECT_EQ(std::count(told.begin(), told.end(), '\n'), 1) << told;
  a.turn();
  EXPECT_TRUE(a.refused.empty()) << "there is somebody, it is sent again";
  send(a, b, 3);
  b.turn();
  expect_frames(a, b, 3, 1);
}

TEST_F(HubTest, unreached__until_there_is_a_way_or_it_is_given_up) {
  testing::internal::CaptureStderr();
  {
    const NoDescriptor none;
    send(a, b, 1);
    send(a, b, 2);
    EXPECT_EQ(a->unreached(), std::vector{b.place()});
    EXPECT_FALSE(a->reach(b.place()));
    EXPECT_EQ(errno, EMFILE);
    a->unreached_forget(b.place());
    EXPECT_TRUE(a->unreached().empty());
    EXPECT_FALSE(a->reach(b.place()));
    EXPECT_TRUE(a->unreached().empty()) << "no frame waits for it";
    send(a, b, 3);
    EXPECT_EQ(a->unreached(), std::vector{b.place()});
  }
  testing::internal::GetCapturedStderr();
  EXPECT_TRUE(a->reach(b.place()));
  EXPECT_TRUE(a->unreached().empty());
  send(a, b, 4);
  b.turn();
  expect_frames(a, b, 4, 1);
}

TEST_F(HubTest, no_descriptor_to_let_a_peer_in__is_told_once_with_the_remedy) {
  const OwnFd connection = socket_to(b.place());
  testing::internal::CaptureStderr();
  {
    const NoDescriptor none;
    for (int i = 0; i < 3; i++) b.turn();
  }
  const std::string told = testing::internal::GetCapturedStderr();
  EXPECT_THAT(told, testing::HasSubstr("cannot be let in"));
  EXPECT_THAT(told, testing::HasSubstr("ulimit -n"));
  EXPECT_EQ(std::count(told.begin(), told.end(), '\n'), 1) << told;
}

TEST_F(HubTest, no_descriptor_for_the_memory_of_a_peer__is_told_with_the_remedy) {
  const OwnFd connection = socket_to(b.place());
  b.turn();  // the peer is accepted, and has sent nothing yet
  const SharedMemory memory = SharedMemory::create(ring_memory(kRingBytes));
  ASSERT_TRUE(hello_send(connection.get(), hello_of({kNic, 5}), memory.descriptor()));
  testing::internal::CaptureStderr();
  {
    const NoDescriptor none;
    b.turn();
  }
  EXPECT_THAT(testing::internal::GetCapturedStderr(), testing::HasSubstr("ulimit -n"));
  EXPECT_TRUE(hung_up(connection)) << "it may try again";
}

}  // namespace
}  // namespace omx::local
