// SPDX-License-Identifier: BSD-3-Clause
// A process that opens and closes an endpoint of a packet fanout group is stopped, and then killed, before
// or after any system call. The other members go on, and a newcomer gets what it needs.
#include <fmt/format.h>
#include <sys/ptrace.h>

#include <random>

#include "fanout_neighbours.h"
#include "tests/support/signal_child.h"

namespace omx::link {
namespace {

// A process that opens and closes endpoint 10, with its wake-up socket, one step after the other.
class Victim {
 public:
  Victim() {
    pid_ = ::fork();
    if (pid_ == 0) {
      ::alarm(120);
      if (::ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) != 0) ::_exit(2);
      ::raise(SIGSTOP);
      PacketLinkOptions options = shared(10);
      options.interface = "v1";
      {
        auto link = packet_link_open(options);
        if (!link) ::_exit(1);
        (*link)->wakeup()->open();
      }
      ::_exit(0);
    }
    EXPECT_EQ(::waitpid(pid_, &status_, 0), pid_);
    EXPECT_EQ(::ptrace(PTRACE_SETOPTIONS, pid_, nullptr, PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL), 0);
  }
  Victim(const Victim&) = delete;
  Victim& operator=(const Victim&) = delete;
  ~Victim() {
    signal_child(pid_, SIGKILL);
    while (!ended() && ::waitpid(pid_, &status_, __WALL) == pid_) {
    }
  }

  bool ended() const { return WIFEXITED(status_) || WIFSIGNALED(status_); }
  bool well() const { return WIFEXITED(status_) && WEXITSTATUS(status_) == 0; }
  // Runs to the begin or end of the next system call. Returns false when the process has ended.
  bool step() {
    int signal = 0;
    do {
      if (::ptrace(PTRACE_SYSCALL, pid_, nullptr, signal) != 0 || ::waitpid(pid_, &status_, __WALL) != pid_ ||
          ended())
        return false;
      signal = WSTOPSIG(status_);
    } while (signal != (SIGTRAP | 0x80));
    return true;
  }
  bool steps(unsigned count) {
    for (unsigned i = 0; i < count; i++)
      if (!step()) return false;
    return true;
  }
  // Stops the process with its other threads.
  void stop() const { signal_child(pid_, SIGSTOP); }

 private:
  pid_t pid_ = 0;
  int status_ = 0;
};

class fanout_steps : public FanoutTest {
 protected:
  static unsigned steps_all() {
    Victim victim;
    unsigned count = 0;
    while (victim.step()) count++;
    EXPECT_TRUE(victim.well());
    return count;
  }
  // Returns some of the steps, different ones each time.
  static std::vector<unsigned> steps_some(unsigned all, unsigned count) {
    std::mt19937 random(std::random_device{}());
    std::vector<unsigned> some;
    for (unsigned i = 0; i < count; i++)
      some.push_back(static_cast<unsigned>((i + std::uniform_real_distribution<>(0, 1)(random)) *
                                           static_cast<double>(all) / count));
    return some;
  }
};

TEST_F(fanout_steps, member__stopped_and_killed_anywhere) {
  auto a = open("v0");
  auto first = open("v1", shared(1));
  for (const unsigned step : steps_some(steps_all(), 16)) {
    SCOPED_TRACE(fmt::format("step {}", step));
    std::unique_ptr<Transport> second;
    {
      Victim victim;
      victim.steps(step);
      victim.stop();
      second = open("v1", shared(2));
      expect_own_frames(*a, {{1, first.get()}, {2, second.get()}});
    }
    auto third = open("v1", shared(3));
    EXPECT_NE(group_of(*third), 0U);
    auto heir = open("v1", shared(10));
    expect_own_frames(*a, {{1, first.get()}, {2, second.get()}, {3, third.get()}, {10, heir.get()}});
    if (HasFailure()) break;
  }
}

TEST_F(fanout_steps, founder__stopped_and_killed_anywhere) {
  auto a = open("v0");
  for (const unsigned step : steps_some(steps_all(), 16)) {
    SCOPED_TRACE(fmt::format("step {}", step));
    std::unique_ptr<Transport> second;
    {
      Victim victim;
      victim.steps(step);
      victim.stop();
      second = open("v1", shared(2));
      expect_own_frames(*a, {{2, second.get()}});
    }
    auto third = open("v1", shared(3));
    expect_own_frames(*a, {{2, second.get()}, {3, third.get()}});
    second.reset();
    third.reset();
    EXPECT_TRUE(becomes_true([] { return packet_sockets() == 1; })) << "something is left";
    if (HasFailure()) break;
  }
}

}  // namespace
}  // namespace omx::link
