// SPDX-License-Identifier: BSD-3-Clause
// Helpers for tests of AF_XDP: a cable on which it works, and other processes.
#pragma once

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <net/if.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "link/ethernet/xdp_link.h"
#include "link/xdp/xdp_attach.h"
#include "netdev/xdp_present.h"
#include "tests/support/signal_child.h"
#include "tests/support/test_network.h"

namespace omx::link {

inline XdpPresent programs_of(const char* interface) {
  XdpPresent present;
  EXPECT_EQ(xdp_present(::if_nametoindex(interface), present), 0);
  return present;
}

class XdpTest : public CableTest {
 protected:
  void SetUp() override {
    if (!xdp_built()) GTEST_SKIP() << "this build has no AF_XDP";
    CableTest::SetUp();
    if (IsSkipped()) return;
    auto trial = xdp_trial({.packets = {.interface = "v0"}});
    if (!trial) GTEST_SKIP() << trial.error().message;
  }
  static Result<std::unique_ptr<Transport>> attempt(const std::string& interface, XdpLinkOptions options) {
    options.packets.interface = interface;
    return xdp_link_open(options);
  }
  static std::unique_ptr<Transport> open(const std::string& interface, const XdpLinkOptions& options) {
    auto link = attempt(interface, options);
    EXPECT_TRUE(link.has_value()) << (link ? "" : link.error().message);
    return link ? std::move(*link) : nullptr;
  }
};

// Runs a body in another process, which lives until it is killed.
class OtherProcess {
 public:
  template <class Body>
  explicit OtherProcess(Body body) {
    int ready[2];
    EXPECT_EQ(::pipe(ready), 0);
    pid_ = ::fork();
    if (pid_ == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      const bool good = body();
      (void)!::write(ready[1], good ? "y" : "n", 1);
      for (;;) ::pause();
    }
    ::close(ready[1]);
    char answer = 'n';
    EXPECT_EQ(::read(ready[0], &answer, 1), 1);
    EXPECT_EQ(answer, 'y');
    ::close(ready[0]);
  }
  ~OtherProcess() { end(); }
  void end() {
    if (pid_ <= 0) return;
    signal_child(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
    pid_ = -1;
  }

 private:
  pid_t pid_ = -1;
};

}  // namespace omx::link
