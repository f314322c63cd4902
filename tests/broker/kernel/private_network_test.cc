// SPDX-License-Identifier: BSD-3-Clause
#include "tools/broker/kernel/private_network.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <net/if.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kernel_needs.h"
#include "tests/support/test_network.h"

namespace omx::broker {
namespace {

std::uint64_t namespace_of(const char* path) {
  struct stat facts {};
  EXPECT_EQ(::stat(path, &facts), 0) << path;
  return facts.st_ino;
}

class PrivateNetworkTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string reason;
    if (!link::network_enter(reason)) GTEST_SKIP() << reason;
    folder_ = testing::TempDir() + "/omx-private-" + std::to_string(::getpid());
  }
  void TearDown() override {
    ::rmdir((folder_ + "/net").c_str());
    ::rmdir(folder_.c_str());
  }
  std::string path() const { return folder_ + "/net/eth0"; }

  std::string folder_;
};

TEST_F(PrivateNetworkTest, make__leaves_the_caller_where_it_is) {
  const std::uint64_t before = namespace_of("/proc/self/ns/net");
  auto network = PrivateNetwork::make();
  ASSERT_TRUE(network) << network.error().message;
  EXPECT_EQ(namespace_of("/proc/self/ns/net"), before);
  std::uint64_t inside = 0;
  unsigned interfaces = 0;
  ASSERT_EQ(run_in(*network,
                   [&] {
                     inside = namespace_of("/proc/thread-self/ns/net");
                     struct if_nameindex* all = ::if_nameindex();
                     while (all && all[interfaces].if_index != 0) interfaces++;
                     ::if_freenameindex(all);
                   }),
            0);
  EXPECT_NE(inside, before);
  EXPECT_EQ(interfaces, 1U) << "only lo";
  EXPECT_EQ(namespace_of("/proc/self/ns/net"), before);
}

TEST_F(PrivateNetworkTest, mounted__is_opened_again_and_removed) {
  auto network = PrivateNetwork::make_at(path());
  OMX_NEED(network);
  std::uint64_t inside = 0, again = 0;
  ASSERT_EQ(run_in(*network, [&] { inside = namespace_of("/proc/thread-self/ns/net"); }), 0);
  {
    auto opened = PrivateNetwork::open(path());
    ASSERT_TRUE(opened) << opened.error().message;
    ASSERT_EQ(run_in(*opened, [&] { again = namespace_of("/proc/thread-self/ns/net"); }), 0);
  }
  EXPECT_EQ(inside, again);
  const auto second = PrivateNetwork::make_at(path());
  ASSERT_FALSE(second);
  EXPECT_NE(second.error().message.find("mounted at"), std::string::npos) << second.error().message;
  const auto removed = network->remove();
  ASSERT_TRUE(removed) << removed.error().message;
  EXPECT_NE(::access(path().c_str(), F_OK), 0);
  EXPECT_FALSE(PrivateNetwork::open(path()));
}

TEST_F(PrivateNetworkTest, file_without_the_mount__is_none_and_is_used_again) {
  {
    auto network = PrivateNetwork::make_at(path());
    OMX_NEED(network);
    ASSERT_EQ(::umount(path().c_str()), 0);  // as if killed before the mount
  }
  const auto none = PrivateNetwork::open(path());
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().mx_code, 5) << none.error().message;
  auto network = PrivateNetwork::make_at(path());
  ASSERT_TRUE(network) << network.error().message;
  EXPECT_TRUE(PrivateNetwork::open(path()));
  EXPECT_TRUE(network->remove());
}

TEST(run_in, without_a_namespace__the_work_does_not_run) {
  auto network = PrivateNetwork::make();
  if (!network) GTEST_SKIP() << network.error().message;
  ASSERT_TRUE(network->remove());
  bool ran = false;
  EXPECT_EQ(run_in(*network, [&] { ran = true; }), EBADF);
  EXPECT_FALSE(ran);
}

}  // namespace
}  // namespace omx::broker
