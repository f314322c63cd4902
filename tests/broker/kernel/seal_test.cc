// SPDX-License-Identifier: BSD-3-Clause
// Each test runs in a forked process, which the seal moves to another cgroup.
#include "tools/broker/kernel/seal.h"
#include "tests/support/signal_child.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>

#include "tests/support/test_network.h"
#include "tools/broker/kernel/grant_map.h"

namespace omx::broker {
namespace {

// Returns why this process cannot have a seal, or nothing if it can.
std::string reason_against() {
  auto seal = Seal::enter();
  if (!seal) return seal.error().message;
  const auto left = seal->leave();
  return left ? "" : left.error().message;
}

// Runs the check in a child. The results are the child's failures.
void in_child(const std::function<void()>& check) {
  const pid_t child = ::fork();
  if (child == 0) {
    check();
    ::_exit(testing::Test::HasFailure() ? 1 : 0);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

OwnFd some_socket() {
  return OwnFd(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
}

bool option_set(const OwnFd& socket, int option, int value) {
  return ::setsockopt(socket.get(), SOL_SOCKET, option, &value, sizeof value) == 0;
}

bool exists(const std::string& folder) {
  struct stat facts {};
  return ::stat(folder.c_str(), &facts) == 0;
}

class SealTest : public testing::Test {
 protected:
  void SetUp() override {
    if (const std::string reason = reason_against(); !reason.empty()) GTEST_SKIP() << reason;
  }
};

TEST_F(SealTest, mark__ends_all_options_and_for_root_too) {
  in_child([] {
    auto seal = Seal::enter();
    ASSERT_TRUE(seal) << seal.error().message;
    const OwnFd socket = some_socket();
    EXPECT_TRUE(option_set(socket, SO_PRIORITY, 1));
    EXPECT_TRUE(option_set(socket, SO_MARK, 7)) << "not our mark";
    EXPECT_FALSE(seal_holds(socket.get()));
    EXPECT_TRUE(option_set(socket, SO_PRIORITY, 2));
    EXPECT_TRUE(option_set(socket, SO_MARK, kMarkMagic | 5));
    EXPECT_FALSE(option_set(socket, SO_PRIORITY, 1));
    EXPECT_EQ(errno, EPERM);
    EXPECT_FALSE(option_set(socket, SO_MARK, 0));
    EXPECT_TRUE(seal_holds(socket.get()));
    const OwnFd other = some_socket();
    EXPECT_TRUE(option_set(other, SO_PRIORITY, 1)) << "sockets without the mark stay as they are";
  });
}

TEST_F(SealTest, leave__removes_the_cgroup_and_sockets_stay_sealed) {
  in_child([] {
    auto seal = Seal::enter();
    ASSERT_TRUE(seal) << seal.error().message;
    const std::string folder = seal->folder();
    EXPECT_TRUE(exists(folder));
    const OwnFd socket = some_socket();
    EXPECT_TRUE(option_set(socket, SO_MARK, kMarkMagic | 5));
    const auto left = seal->leave();
    ASSERT_TRUE(left) << left.error().message;
    EXPECT_FALSE(exists(folder));
    EXPECT_TRUE(seal_holds(socket.get()));
    EXPECT_FALSE(option_set(socket, SO_MARK, 0));
    const OwnFd later = some_socket();
    EXPECT_TRUE(option_set(later, SO_MARK, kMarkMagic | 5));
    EXPECT_FALSE(seal_holds(later.get())) << "made outside";
  });
}

TEST_F(SealTest, killed__the_next_one_removes_the_leftovers) {
  int pipe[2];
  ASSERT_EQ(::pipe(pipe), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    auto seal = Seal::enter();
    const std::string folder = seal ? seal->folder() : "";
    if (::write(pipe[1], folder.c_str(), folder.size() + 1) < 0) ::_exit(1);
    for (;;) ::pause();
  }
  std::array<char, 4096> folder{};
  ASSERT_GT(::read(pipe[0], folder.data(), folder.size() - 1), 1);
  ::close(pipe[0]);
  ::close(pipe[1]);
  EXPECT_TRUE(exists(folder.data()));
  EXPECT_EQ(reason_against(), "");
  EXPECT_TRUE(exists(folder.data())) << "its process lives";
  signal_child(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  // The kernel empties the cgroup of a process shortly after the process was waited for.
  EXPECT_TRUE(link::becomes_true([&] { return reason_against().empty() && !exists(folder.data()); }));
}

TEST_F(SealTest, entered_twice__as_after_an_exec) {
  in_child([] {
    auto first = Seal::enter();
    ASSERT_TRUE(first) << first.error().message;
    auto second = Seal::enter();
    ASSERT_TRUE(second) << second.error().message;
    const std::string folder = first->folder();
    EXPECT_EQ(second->folder(), folder);
    const OwnFd socket = some_socket();
    EXPECT_TRUE(option_set(socket, SO_MARK, kMarkMagic | 5));
    EXPECT_TRUE(seal_holds(socket.get()));
    EXPECT_TRUE(second->leave());
    EXPECT_TRUE(first->leave());
    EXPECT_FALSE(exists(folder));
  });
}

}  // namespace
}  // namespace omx::broker
