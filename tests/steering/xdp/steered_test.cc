// SPDX-License-Identifier: BSD-3-Clause
// Binding reads the table of a steered interface without libbpf.
#include "steering/steered.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <gmock/gmock.h>
#include <linux/bpf.h>
#include <linux/if_link.h>
#include <net/if.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <fstream>

#include "base/affinity.h"
#include "steering/queues.h"
#include "steering/xdp/steer_attach.h"
#include "tests/support/test_network.h"

namespace omx::steering {
namespace {

using testing::HasSubstr;

class steered : public link::CableTest {
 protected:
  void SetUp() override {
    std::string reason;
    CableTest::SetUp();
    if (IsSkipped()) return;
    if (!link::sysfs_enter(reason)) GTEST_SKIP() << reason;
    const auto probe = steer_load(SteerTable{});
    if (!probe && probe.error().message.find("takes root") != std::string::npos)
      GTEST_SKIP() << probe.error().message;
    ASSERT_TRUE(probe) << probe.error().message;
    online_ = processors_online();
  }
  static link::Interface interface(const std::string& name) {
    for (const link::Interface& i : link::interfaces_list())
      if (i.name == name) return i;
    return {};
  }
  // Steers all endpoints to the last processor, except 7, which stays on the first.
  void steer(const std::string& name, std::optional<XdpMode> mode = std::nullopt) const {
    SteerTable table;
    table.fill(static_cast<std::uint32_t>(online_.back()));
    table[7] = static_cast<std::uint32_t>(online_.front());
    const auto program = steer_load(table);
    ASSERT_TRUE(program) << program.error().message;
    const auto done = steer_attach(name, program->get(), mode);
    ASSERT_TRUE(done) << done.error().message;
  }
  static std::string where(const ReceiveQueues& all, std::uint32_t endpoint) {
    const auto queue = queue_find(all, endpoint);
    return queue ? fmt::format("{} by {}", fmt::join(queue->processors, ","), queue->source) : "unknown";
  }

  std::vector<int> online_;
};

TEST_F(steered, its_table) {
  EXPECT_TRUE(steered_read(interface("v0"), "v0").processors.empty());
  for (const XdpMode mode : {XdpMode::native, XdpMode::generic}) {
    steer("v0", mode);
    const ReceiveQueues all = receive_queues_read("", interface("v0"));
    EXPECT_EQ(all.steered.unreadable, "");
    EXPECT_EQ(all.steered.processors.size(), kSteerEndpoints);
    EXPECT_EQ(where(all, 0), fmt::format("{} by omx steer on v0", online_.back()));
    EXPECT_EQ(where(all, 7), fmt::format("{} by omx steer on v0", online_.front()));
    EXPECT_TRUE(receive_queues_read("", interface("v1")).steered.processors.empty());
    EXPECT_TRUE(steer_detach(**xdp_attached("v0")));
    EXPECT_EQ(where(receive_queues_read("", interface("v0")), 0), "unknown");
  }
}

TEST_F(steered, of_the_interface_below) {
  link::ip("link add link v0 name above type macvlan");
  steer("v0");
  EXPECT_EQ(where(receive_queues_read("", interface("above")), 0),
            fmt::format("{} by omx steer on v0", online_.back()));
}

TEST_F(steered, not_by_rps_that_comes_after) {
  std::ofstream("/sys/class/net/v0/queues/rx-0/rps_cpus") << "1";
  steer("v0");
  EXPECT_EQ(where(receive_queues_read("", interface("v0")), 0), "0 by RPS of v0 rx-0");
}

TEST_F(steered, anothers_program_is_nothing_to_us) {
  const std::array<bpf_insn, 2> code = {bpf_insn{BPF_ALU64 | BPF_MOV | BPF_K, 0, 0, 0, XDP_PASS},
                                        bpf_insn{BPF_JMP | BPF_EXIT, 0, 0, 0, 0}};
  const OwnFd other(::bpf_prog_load(BPF_PROG_TYPE_XDP, "someone", "GPL", code.data(), code.size(), nullptr));
  ASSERT_TRUE(other.open());
  ASSERT_EQ(
      ::bpf_xdp_attach(static_cast<int>(::if_nametoindex("v0")), other.get(), XDP_FLAGS_DRV_MODE, nullptr),
      0);
  const Steered found = steered_read(interface("v0"), "v0");
  EXPECT_TRUE(found.processors.empty());
  EXPECT_EQ(found.unreadable, "");
}

TEST_F(steered, without_the_right_to_see__says_what_helps) {
  steer("v0");
  const link::Interface v0 = interface("v0");
  const pid_t pid = ::fork();
  if (pid == 0) {
    if (::setuid(54321) != 0) ::_exit(99);
    const Steered found = steered_read(v0, "v0");
    ::_exit(found.processors.empty() && found.unreadable.find("omx prepare-binding") != std::string::npos
                ? 0
                : 1);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(pid, &status, 0), pid);
  EXPECT_EQ(WIFEXITED(status) ? WEXITSTATUS(status) : -1, 0);
}

}  // namespace
}  // namespace omx::steering
