// SPDX-License-Identifier: BSD-3-Clause
// The kernel's own drivers, on interfaces of the test's own namespace. A veth pair has features, queues and
// NAPI. A tap has coalescing and accepts only rx-frames.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>

#include "tests/support/test_network.h"
#include "tuning/ethtool_kernel.h"
#include "tuning/judge_host.h"
#include "tuning/judge_interface.h"
#include "tuning/tuner.h"

namespace omx::tuning {
namespace {

namespace fs = std::filesystem;
using testing::Contains;

class live : public link::CableTest {
 protected:
  void SetUp() override {
    CableTest::SetUp();
    if (IsSkipped()) return;
    std::string name = (fs::temp_directory_path() / "omx-live-XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    state = name;
    std::string reason;
    if (!link::sysfs_enter(reason)) GTEST_SKIP() << reason;
  }
  void TearDown() override {
    if (!state.empty()) fs::remove_all(state);
  }

  std::optional<link::Interface> find(const std::string& name) const {
    for (const link::Interface& i : machine.interfaces()) {
      if (i.name == name) return i;
    }
    return std::nullopt;
  }
  void set(SettingKind kind, const std::string& interface, const std::string& name,
           const std::string& value) {
    EXPECT_EQ(setting_write(machine, {kind, interface, name}, value), 0) << name;
    EXPECT_EQ(setting_read(machine, {kind, interface, name}).value_or("?"), value) << name;
  }
  void spoil_v0() {
    for (const auto& [name, value] : kSpoilt) set(SettingKind::device_file, "v0", name, value);
    set(SettingKind::feature, "v0", "tx-udp-segmentation", "off");
  }
  std::string snapshot() const {
    std::string all;
    for (const auto& [name, value] : kSpoilt)
      all += name + " " + setting_read(machine, {SettingKind::device_file, "v0", name}).value_or("?") + "\n";
    const auto features = kernel->features("v0");
    for (const Feature& f : *features) all += fmt::format("{} {} {}\n", f.name, f.requested, f.active);
    return all;
  }
  Result<Applied> apply(const std::string& name, const Report& report) const {
    auto ledger = Ledger::open(state, ledger_name(), "boot");
    if (!ledger) return tl::unexpected(ledger.error());
    const auto interface = find(name);
    if (!interface) return fail(2, "no interface");
    const auto findings =
        interface_judge(interface_facts_read(machine, *interface), host_facts_read(machine));
    return tune_apply(machine, *ledger, &*interface, findings, report);
  }
  void undo() {
    auto ledger = Ledger::open(state, ledger_name(), "boot");
    ASSERT_TRUE(ledger) << ledger.error().message;
    const auto undone = tune_undo(machine, *ledger, note);
    ASSERT_TRUE(undone) << undone.error().message;
    EXPECT_EQ(undone->failed + undone->gone, 0U);
    EXPECT_TRUE(fs::is_empty(state));
  }

  const std::vector<std::pair<std::string, std::string>> kSpoilt = {
      {"queues/rx-0/rps_cpus", "1"}, {"gro_flush_timeout", "2000000"}, {"napi_defer_hard_irqs", "7"}};
  std::unique_ptr<Ethtool> kernel = ethtool_of_kernel();
  const Machine machine{*kernel, {}};
  std::string state;
  std::vector<std::string> said;
  const Report note = [this](std::string_view line) { said.emplace_back(line); };
};

TEST_F(live, facts__of_a_veth) {
  const auto v0 = find("v0");
  ASSERT_TRUE(v0);
  const InterfaceFacts facts = interface_facts_read(machine, *v0);
  EXPECT_TRUE(facts.sysfs);
  EXPECT_FALSE(facts.coalescing);
  ASSERT_TRUE(facts.channels);
  EXPECT_EQ(facts.channels->rx, 1U);
  EXPECT_EQ(facts.defer_hard_irqs, "0");
  ASSERT_TRUE(facts.features);
  std::vector<std::string> names;
  for (const Feature& f : *facts.features) names.push_back(f.name);
  EXPECT_THAT(names, testing::IsSupersetOf({"rx-gro", "tx-scatter-gather", "tx-udp-segmentation"}));
  EXPECT_EQ(facts.rps.size(), 1U);
  EXPECT_TRUE(facts.interrupts.empty());
}

TEST_F(live, flow_rules__of_a_veth_there_are_none) {
  EXPECT_EQ(kernel->flows("v0").error(), EOPNOTSUPP);
  EXPECT_EQ(kernel->flow_add("v0", {false, 27200, 0, 0}), EOPNOTSUPP);
}

TEST_F(live, veth__apply_and_undo) {
  spoil_v0();
  const std::string before = snapshot();
  const auto applied = apply("v0", note);
  ASSERT_TRUE(applied) << applied.error().message;
  EXPECT_EQ(applied->changed, 4U);
  EXPECT_EQ(applied->refused, 0U);
  EXPECT_THAT(said, Contains("v0 gro_flush_timeout: 2000000 -> 0"));
  EXPECT_THAT(said, Contains("v0 tx-udp-segmentation: off -> on"));
  const InterfaceFacts facts = interface_facts_read(machine, *find("v0"));
  for (const Finding& f : interface_judge(facts, host_facts_read(machine))) {
    EXPECT_TRUE(f.changes.empty()) << f.subject;
  }
  ASSERT_NO_FATAL_FAILURE(undo());
  EXPECT_EQ(snapshot(), before);
}

TEST_F(live, veth__killed_after_each_step_can_be_undone) {
  spoil_v0();
  const std::string before = snapshot();
  for (int step = 0; step < 4; step++) {
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      int left = step;
      const auto applied = apply("v0", [&left](std::string_view) {
        if (left-- == 0) ::raise(SIGKILL);
      });
      ::_exit(applied ? 0 : 1);
    }
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFSIGNALED(status)) << step;
    EXPECT_NE(snapshot(), before) << step;
    ASSERT_NO_FATAL_FAILURE(undo());
    EXPECT_EQ(snapshot(), before) << step;
  }
}

TEST_F(live, napi__of_a_queue_set_apart) {
  link::ip("link set v0 up");
  set(SettingKind::feature, "v0", "rx-gro", "on");  // now a veth uses NAPI
  auto napis = kernel->napis("v0");
  if (!napis || napis->empty() || !napis->front().irq_suspend_timeout)
    GTEST_SKIP() << "this kernel has no settings for each queue";
  const std::string id = std::to_string(napis->front().id);
  spoil_v0();
  set(SettingKind::napi, "v0", id + "/defer-hard-irqs", "3");
  set(SettingKind::napi, "v0", id + "/gro-flush-timeout", "6000000000");
  ASSERT_TRUE(apply("v0", note));
  // The interface's files set all queues to one value.
  EXPECT_EQ(setting_read(machine, {SettingKind::napi, "v0", id + "/gro-flush-timeout"}), "0");
  ASSERT_NO_FATAL_FAILURE(undo());
  EXPECT_EQ(setting_read(machine, {SettingKind::napi, "v0", id + "/defer-hard-irqs"}), "3");
  EXPECT_EQ(setting_read(machine, {SettingKind::napi, "v0", id + "/gro-flush-timeout"}), "6000000000");
  EXPECT_EQ(setting_read(machine, {SettingKind::device_file, "v0", "gro_flush_timeout"}), "2000000");
  EXPECT_EQ(kernel->napi_set({1, kNapiDefer}, 1), ENOENT);
}

TEST_F(live, tap__coalescing_of_a_driver) {
  link::ip("tuntap add dev t0 mode tap");
  const auto c = kernel->coalescing("t0");
  if (!c) GTEST_SKIP() << "this kernel's tap has no coalescing";
  set(SettingKind::coalescing, "t0", "rx-frames", "64");
  // The driver refuses what it does not have.
  EXPECT_EQ(setting_write(machine, {SettingKind::coalescing, "t0", "rx-usecs"}, "50"), EOPNOTSUPP);
  EXPECT_EQ(kernel->rings("t0").error(), EOPNOTSUPP);
  const auto applied = apply("t0", note);
  ASSERT_TRUE(applied) << applied.error().message;
  EXPECT_THAT(said, Contains("t0 rx-frames: 64 -> 1"));
  EXPECT_EQ(setting_read(machine, {SettingKind::coalescing, "t0", "rx-frames"}), "1");
  ASSERT_NO_FATAL_FAILURE(undo());
  EXPECT_EQ(setting_read(machine, {SettingKind::coalescing, "t0", "rx-frames"}), "64");
}

TEST_F(live, undo__interface_replaced_by_another_of_its_name) {
  spoil_v0();
  ASSERT_TRUE(apply("v0", note));
  link::ip("link del v0");
  link::ip("link add v0 type veth peer name v1");
  auto ledger = Ledger::open(state, ledger_name(), "boot");
  ASSERT_TRUE(ledger);
  const auto undone = tune_undo(machine, *ledger, note);
  ASSERT_TRUE(undone);
  EXPECT_EQ(undone->gone, 4U);
  EXPECT_EQ(setting_read(machine, {SettingKind::device_file, "v0", "napi_defer_hard_irqs"}), "0");
}

TEST_F(live, other_sysfs__is_noticed) {
  ASSERT_TRUE(steering::sysfs_shows(machine.root, *find("v0")));
  ASSERT_EQ(::umount("/sys"), 0);
  EXPECT_FALSE(steering::sysfs_shows(machine.root, *find("v0")));
}

TEST_F(live, ledger_name__of_each_namespace_its_own) {
  const std::string here = ledger_name();
  EXPECT_EQ(ledger_name(), here);
  ASSERT_EQ(::unshare(CLONE_NEWNET), 0);
  EXPECT_NE(ledger_name(), here);
}

}  // namespace
}  // namespace omx::tuning
