// SPDX-License-Identifier: BSD-3-Clause
// Tests of the hook by tcx, and beside a clsact.
#include "tools/broker/kernel/egress_hook.h"

#include <gtest/gtest.h>
#include <linux/pkt_cls.h>

#include "egress_fixture.h"
#include "netdev/bpf_call.h"
#include "tools/broker/kernel/ebpf_load.h"
#include "tools/broker/kernel/egress_clsact.h"
#include "tools/broker/kernel/egress_tcx.h"

namespace omx::broker {
namespace {

class EgressHookTest : public EgressTest {
 protected:
  void SetUp() override {
    EgressTest::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    if (!tcx_find(ifindex_).possible) GTEST_SKIP() << "this kernel has no tcx";
  }

  OwnFd program_load() const {
    auto program = egress_program_load(maps_, Unmarked::pass);
    EXPECT_TRUE(program) << program.error().message;
    return program ? std::move(*program) : OwnFd{};
  }
  static std::uint32_t id_of(const OwnFd& program) {
    bpf_prog_info info{};
    EXPECT_TRUE(link::bpf_info_read(program.get(), &info, sizeof info));
    return info.id;
  }
  EgressHook found() const {
    const auto hook = egress_hook_find(ifindex_);
    EXPECT_TRUE(hook) << hook.error().message;
    return hook.value_or(EgressHook{});
  }
  void add(const OwnFd& program) const {
    const auto added = egress_hook_add(ifindex_, program.get());
    ASSERT_TRUE(added) << added.error().message;
  }
  void remove() const {
    const auto removed = egress_hook_remove(ifindex_);
    ASSERT_TRUE(removed) << removed.error().message;
  }
  // Attaches a program of someone else, with these flags.
  OwnFd other_attach(std::uint32_t flags) const {
    EbpfCode c;
    c.exit_with(TC_ACT_UNSPEC);
    auto program = ebpf_load({"other", BPF_PROG_TYPE_SCHED_CLS, {}}, c.take());
    EXPECT_TRUE(program) << program.error().message;
    bpf_attr a{};
    a.target_fd = ifindex_;
    a.attach_bpf_fd = static_cast<std::uint32_t>(program->get());
    a.attach_type = 47;  // BPF_TCX_EGRESS
    a.attach_flags = flags;
    EXPECT_EQ(link::bpf_call(BPF_PROG_ATTACH, a), 0) << errno;
    return std::move(*program);
  }
  static constexpr std::uint32_t kBefore = 8;  // BPF_F_BEFORE
};

TEST_F(EgressHookTest, add__is_found_and_removed) {
  EXPECT_EQ(found().program_id, 0U);
  remove();  // nothing is there: no error
  const OwnFd program = program_load();
  add(program);
  EXPECT_EQ(found().program_id, id_of(program));
  EXPECT_TRUE(found().first);
  add(program);  // the same again changes nothing
  EXPECT_EQ(tcx_find(ifindex_).programs, 1U);
  remove();
  EXPECT_EQ(found().program_id, 0U);
  EXPECT_EQ(tcx_find(ifindex_).programs, 0U);
}

TEST_F(EgressHookTest, add__stays_when_the_program_is_closed) {
  std::uint32_t id = 0;
  {
    const OwnFd program = program_load();
    id = id_of(program);
    add(program);
  }
  EXPECT_EQ(found().program_id, id);
}

TEST_F(EgressHookTest, programs_of_others__stay_and_ours_comes_first) {
  const OwnFd before = other_attach(0);
  const OwnFd first = program_load();
  add(first);
  EXPECT_TRUE(found().first);
  const OwnFd later = other_attach(kBefore);
  EXPECT_EQ(found().program_id, id_of(first));
  EXPECT_FALSE(found().first);
  const OwnFd second = program_load();
  add(second);
  EXPECT_EQ(found().program_id, id_of(second));
  EXPECT_TRUE(found().first);
  EXPECT_EQ(tcx_find(ifindex_).programs, 3U);
  remove();
  EXPECT_EQ(tcx_find(ifindex_).programs, 2U);
}

TEST_F(EgressHookTest, clsact_of_a_former_broker__is_replaced) {
  const OwnFd former = program_load(), next = program_load();
  ASSERT_TRUE(clsact_add(ifindex_, former.get()));
  EXPECT_EQ(found().program_id, id_of(former));
  EXPECT_TRUE(found().first);
  const OwnFd other = other_attach(0);
  EXPECT_FALSE(found().first) << "programs run before all filters";
  add(next);
  EXPECT_EQ(found().program_id, id_of(next));
  EXPECT_TRUE(found().first);
  EXPECT_EQ(clsact_find(ifindex_)->program_id, 0U);
}

TEST_F(EgressHookTest, interface_gone__is_an_error) {
  const OwnFd program = program_load();
  link::ip("link del v0");
  EXPECT_FALSE(egress_hook_add(ifindex_, program.get()));
}

}  // namespace
}  // namespace omx::broker
