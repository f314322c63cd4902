// SPDX-License-Identifier: BSD-3-Clause
// Attaches to the interfaces of the test's own namespace: beside programs of other owners, and when killed
// half-way.
#include "steering/xdp/steer_attach.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <gmock/gmock.h>
#include <linux/bpf.h>
#include <linux/if_link.h>
#include <net/if.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>

#include "tests/support/signal_child.h"
#include "tests/support/test_network.h"

namespace omx::steering {
namespace {

using testing::HasSubstr;

// Returns a program of another owner, which does "return XDP_PASS".
OwnFd foreign_program(const char* name) {
  const std::array<bpf_insn, 2> code = {bpf_insn{BPF_ALU64 | BPF_MOV | BPF_K, 0, 0, 0, XDP_PASS},
                                        bpf_insn{BPF_JMP | BPF_EXIT, 0, 0, 0, 0}};
  return OwnFd(::bpf_prog_load(BPF_PROG_TYPE_XDP, name, "GPL", code.data(), code.size(), nullptr));
}

std::uint32_t id_of(int program) {
  bpf_prog_info info{};
  std::uint32_t size = sizeof info;
  EXPECT_EQ(::bpf_obj_get_info_by_fd(program, &info, &size), 0);
  return info.id;
}

// Returns whether the kernel has freed the program, which takes a moment.
bool program_is_gone(std::uint32_t id) {
  return link::becomes_true([id] { return !OwnFd(::bpf_prog_get_fd_by_id(id)).open(); });
}

class steer_attachment : public link::CableTest {
 protected:
  void SetUp() override {
    CableTest::SetUp();
    if (IsSkipped()) return;
    const auto probe = steer_load(SteerTable{});
    if (!probe && probe.error().message.find("takes root") != std::string::npos)
      GTEST_SKIP() << probe.error().message;
    ASSERT_TRUE(probe) << probe.error().message;
  }

  static OwnFd load(std::uint32_t of_endpoint_9 = 0) {
    SteerTable table{};
    table[9] = of_endpoint_9;
    auto program = steer_load(table);
    EXPECT_TRUE(program) << program.error().message;
    return program ? std::move(*program) : OwnFd();
  }
  static std::optional<Attachment> on(const std::string& interface) {
    auto found = xdp_attached(interface);
    EXPECT_TRUE(found) << found.error().message;
    return found ? std::move(*found) : std::nullopt;
  }
  static void expect_ours(const std::string& interface, XdpMode mode, std::uint32_t of_endpoint_9 = 0) {
    const auto found = on(interface);
    ASSERT_TRUE(found);
    EXPECT_TRUE(found->ours);
    EXPECT_EQ(found->mode, mode);
    const auto state = steer_read(found->program.get());
    ASSERT_TRUE(state) << state.error().message;
    SteerTable table{};
    table[9] = of_endpoint_9;
    EXPECT_EQ(state->table, table);
  }
  static std::string refusal(const std::string& interface, std::optional<XdpMode> mode = std::nullopt) {
    const auto done = steer_attach(interface, load().get(), mode);
    EXPECT_FALSE(done);
    return done ? "" : done.error().message;
  }
};

TEST_F(steer_attachment, natively_where_the_driver_can) {
  std::uint32_t id = 0;
  {
    const OwnFd program = load();
    id = id_of(program.get());
    const auto mode = steer_attach("v0", program.get(), std::nullopt);
    ASSERT_TRUE(mode) << mode.error().message;
    EXPECT_EQ(*mode, XdpMode::native);
  }
  // Now only the interface holds the program.
  expect_ours("v0", XdpMode::native);
  EXPECT_FALSE(on("v1"));
  const auto all = xdp_attached_all();
  ASSERT_TRUE(all) << all.error().message;
  ASSERT_EQ(all->size(), 1U);
  EXPECT_EQ(all->front().interface, "v0");
  EXPECT_EQ(all->front().id, id);
  const auto done = steer_detach(all->front());
  EXPECT_TRUE(done) << done.error().message;
  EXPECT_FALSE(on("v0"));
}

TEST_F(steer_attachment, nothing_is_left_when_it_is_taken_off) {
  const std::uint32_t id = [] {
    const OwnFd program = load();
    EXPECT_TRUE(steer_attach("v0", program.get(), std::nullopt));
    return id_of(program.get());
  }();
  EXPECT_TRUE(OwnFd(::bpf_prog_get_fd_by_id(id)).open());
  EXPECT_TRUE(steer_detach(*on("v0")));
  EXPECT_TRUE(program_is_gone(id));
}

TEST_F(steer_attachment, goes_with_the_interface) {
  const std::uint32_t id = [] {
    const OwnFd program = load();
    EXPECT_TRUE(steer_attach("v0", program.get(), std::nullopt));
    return id_of(program.get());
  }();
  auto stale = on("v0");
  ASSERT_TRUE(stale);
  link::ip("link delete v0");
  const auto done = steer_detach(*stale);
  EXPECT_TRUE(done) << done.error().message;
  stale->program.reset();
  EXPECT_TRUE(program_is_gone(id));
}

// The loopback interface has no native XDP.
TEST_F(steer_attachment, generic_where_the_driver_cannot) {
  EXPECT_THAT(refusal("lo", XdpMode::native), HasSubstr("omx steer lo --mode generic"));
  EXPECT_FALSE(on("lo"));
  const auto mode = steer_attach("lo", load().get(), std::nullopt);
  ASSERT_TRUE(mode) << mode.error().message;
  EXPECT_EQ(*mode, XdpMode::generic);
  expect_ours("lo", XdpMode::generic);
  EXPECT_TRUE(steer_detach(*on("lo")));
  EXPECT_FALSE(on("lo"));
}

TEST_F(steer_attachment, generic_when_asked_for) {
  const auto mode = steer_attach("v0", load().get(), XdpMode::generic);
  ASSERT_TRUE(mode) << mode.error().message;
  expect_ours("v0", XdpMode::generic);
}

TEST_F(steer_attachment, a_larger_mtu) {
  set_mtu(9000);
  const auto mode = steer_attach("v0", load().get(), XdpMode::native);
  EXPECT_TRUE(mode) << mode.error().message;
}

TEST_F(steer_attachment, again_takes_the_new_table_and_keeps_the_mode) {
  for (const XdpMode mode : {XdpMode::native, XdpMode::generic}) {
    ASSERT_TRUE(steer_attach("v0", load().get(), mode));
    const std::uint32_t first = on("v0")->id;
    const auto again = steer_attach("v0", load(1).get(), std::nullopt);
    ASSERT_TRUE(again) << again.error().message;
    EXPECT_EQ(*again, mode);
    expect_ours("v0", mode, 1);
    EXPECT_TRUE(program_is_gone(first));
    const XdpMode other = mode == XdpMode::native ? XdpMode::generic : XdpMode::native;
    EXPECT_THAT(refusal("v0", other), HasSubstr("omx steer v0 --off"));
    expect_ours("v0", mode, 1);
    ASSERT_TRUE(steer_detach(*on("v0")));
  }
}

// The other program is attached by netlink, as by `ip link` and most tools.
TEST_F(steer_attachment, another_program_stays) {
  const OwnFd other = foreign_program("someone");
  const int index = static_cast<int>(::if_nametoindex("v0"));
  for (const std::uint32_t flags : {XDP_FLAGS_DRV_MODE, XDP_FLAGS_SKB_MODE}) {
    ASSERT_EQ(::bpf_xdp_attach(index, other.get(), flags, nullptr), 0);
    for (const auto mode :
         {std::optional<XdpMode>(), std::optional(XdpMode::native), std::optional(XdpMode::generic)})
      EXPECT_THAT(refusal("v0", mode), HasSubstr("another XDP program, \"someone\""));
    const auto found = on("v0");
    ASSERT_TRUE(found);
    EXPECT_FALSE(found->ours);
    EXPECT_EQ(found->id, id_of(other.get()));
    ASSERT_EQ(::bpf_xdp_detach(index, flags, nullptr), 0);
  }
}

// Our name alone does not make a program ours.
TEST_F(steer_attachment, another_program_of_our_name_stays) {
  const OwnFd other = foreign_program("omx_steer");
  ASSERT_EQ(
      ::bpf_xdp_attach(static_cast<int>(::if_nametoindex("v0")), other.get(), XDP_FLAGS_DRV_MODE, nullptr),
      0);
  EXPECT_THAT(refusal("v0"), HasSubstr("another XDP program"));
  EXPECT_FALSE(on("v0")->ours);
}

// The owner of the other program holds the attachment itself, by a link.
TEST_F(steer_attachment, another_program_held_by_a_link_stays) {
  const OwnFd other = foreign_program("someone");
  const OwnFd held(
      ::bpf_link_create(other.get(), static_cast<int>(::if_nametoindex("v0")), BPF_XDP, nullptr));
  ASSERT_TRUE(held.open());
  EXPECT_THAT(refusal("v0"), HasSubstr("another XDP program"));
  EXPECT_EQ(on("v0")->id, id_of(other.get()));
}

// Another owner replaces our program after it was found. The known program is gone, and the present one is
// not ours.
TEST_F(steer_attachment, what_came_meanwhile_stays) {
  ASSERT_TRUE(steer_attach("v0", load().get(), XdpMode::native));
  const auto stale = on("v0");
  ASSERT_TRUE(stale);
  const OwnFd other = foreign_program("someone");
  ASSERT_EQ(::bpf_xdp_attach(static_cast<int>(stale->index), other.get(), XDP_FLAGS_DRV_MODE, nullptr), 0);
  const auto done = steer_detach(*stale);
  ASSERT_FALSE(done);
  EXPECT_THAT(done.error().message, HasSubstr("another XDP program just now"));
  EXPECT_EQ(on("v0")->id, id_of(other.get()));
}

TEST_F(steer_attachment, no_such_interface) {
  EXPECT_THAT(refusal("nonesuch"), HasSubstr("no interface nonesuch here; there are: lo, v"));
}

// A process killed with the program loaded but not attached leaves nothing behind. If it is killed after
// attaching, the interface is steered completely.
TEST_F(steer_attachment, killed_in_the_middle) {
  for (const bool attaches : {false, true}) {
    std::array<int, 2> pipe{};
    ASSERT_EQ(::pipe(pipe.data()), 0);
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      const auto program = steer_load([] {
        SteerTable table{};
        table[9] = 0;
        return table;
      }());
      if (!program) ::_exit(1);
      if (attaches && !steer_attach("v0", program->get(), std::nullopt)) ::_exit(1);
      const std::uint32_t id = id_of(program->get());
      if (::write(pipe[1], &id, sizeof id) != sizeof id) ::_exit(1);
      for (;;) ::pause();
    }
    ::close(pipe[1]);
    std::uint32_t id = 0;
    ASSERT_EQ(::read(pipe[0], &id, sizeof id), static_cast<ssize_t>(sizeof id));
    ::close(pipe[0]);
    signal_child(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    if (!attaches) {
      EXPECT_TRUE(program_is_gone(id));
      EXPECT_FALSE(on("v0"));
      continue;
    }
    expect_ours("v0", XdpMode::native);
    EXPECT_EQ(on("v0")->id, id);
    EXPECT_TRUE(steer_detach(*on("v0")));
    EXPECT_TRUE(program_is_gone(id));
  }
}

}  // namespace
}  // namespace omx::steering
