// SPDX-License-Identifier: BSD-3-Clause
#include "tuning/tuner.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/support/fake_machine.h"
#include "tuning/judge_host.h"
#include "tuning/judge_interface.h"

namespace omx::tuning {
namespace {

namespace fs = std::filesystem;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// A card on which everything could be better: two queues, adaptive coalescing, a short ring, RPS.
class tuner : public FakeMachine {
 protected:
  void SetUp() override {
    FakeMachine::SetUp();
    add_card("eth0", 2);
    add_interrupt("eth0", 40, "0-3");
    add_interrupt("eth0", 41, "0-3");
    write("/proc/interrupts",
          "  CPU0\n 40: 1 PCI-MSIX 0-edge eth0-TxRx-0\n 41: 1 PCI-MSIX 1-edge eth0-TxRx-1");
    write(kDevice + "/queues/rx-0/rps_cpus", "f");
    for (const char* queue : {"tx-0", "tx-1"}) write(kDevice + "/queues/" + queue + "/xps_cpus", "0");
    write("/sys/devices/system/cpu/online", "0-3");
    write(kDevice + "/threaded", "1");
    FakeEthtool::Nic& nic = drivers.nics["eth0"];
    nic.coalescing = Coalescing{true, true, 50, 128, 50, 32};
    nic.rings = Rings{256, 4096, 256, 4096};
    nic.features = {{"rx-gro", true, false, false}};
    nic.adaptive_blocks = nic.shared_delay = true;
    nic.on_rings = [this] {  // such a driver requests its interrupts again
      write("/proc/irq/40/smp_affinity_list", "0-3");
      write("/proc/irq/41/smp_affinity_list", "0-3");
    };
    write("/proc/sys/net/core/rmem_max", "212992");
  }

  Result<Ledger> ledger(const std::string& boot = "boot-1") const {
    return Ledger::open(folder(), "tune", boot);
  }
  std::string folder() const { return (root / "state").string(); }
  std::string file() const { return folder() + "/tune"; }

  std::string text(const std::string& path) const {
    std::ifstream stream(path);
    return {std::istreambuf_iterator<char>(stream), {}};
  }
  // Returns the files that can be changed.
  std::string files() {
    std::string all;
    for (const char* path :
         {"/proc/irq/40/smp_affinity_list", "/proc/irq/41/smp_affinity_list", "/proc/sys/net/core/rmem_max"})
      all += " " + read(path);
    for (const char* name : {"queues/rx-0/rps_cpus", "queues/tx-0/xps_cpus", "queues/tx-1/xps_cpus",
                             "threaded", "gro_flush_timeout", "napi_defer_hard_irqs"})
      all += " " + read(kDevice + "/" + name);
    return all;
  }
  // Returns all values that can be changed.
  std::string snapshot() {
    const FakeEthtool::Nic& nic = drivers.nics["eth0"];
    const Coalescing& c = *nic.coalescing;
    std::string all = std::to_string(c.adaptive_rx) + std::to_string(c.adaptive_tx);
    for (const auto n : {c.rx_usecs, c.rx_frames, c.tx_usecs, c.tx_frames, nic.rings->rx, nic.rings->tx})
      all += " " + std::to_string(n);
    all += nic.features[0].requested ? " gro" : " no-gro";
    return all + files();
  }

  Result<Applied> apply(Ledger& l, const Report& report) {
    const link::Interface interface = interface_of("eth0");
    const HostFacts host = host_facts_read(machine);
    auto applied = tune_apply(machine, l, &interface,
                              interface_judge(interface_facts_read(machine, interface), host), report);
    if (!applied) return applied;
    auto of_host = tune_apply(machine, l, nullptr, host_judge(host), report);
    if (of_host) applied->changed += of_host->changed;
    return applied;
  }
  Applied apply() {
    auto l = ledger();
    EXPECT_TRUE(l) << l.error().message;
    auto applied = apply(*l, note);
    EXPECT_TRUE(applied) << applied.error().message;
    return *applied;
  }
  Undone undo() {
    auto l = ledger();
    EXPECT_TRUE(l) << l.error().message;
    auto undone = tune_undo(machine, *l, note);
    EXPECT_TRUE(undone) << undone.error().message;
    return *undone;
  }

  const std::string kDevice = "/sys/class/net/eth0";
  std::vector<std::string> said;
  const Report note = [this](std::string_view line) { said.emplace_back(line); };
};

TEST_F(tuner, apply_and_undo__exactly) {
  const std::string before = snapshot();
  const Applied applied = apply();
  EXPECT_EQ(applied.refused, 0U);
  EXPECT_EQ(snapshot(), "01 0 1 0 32 1024 256 gro 0 1 33554432 0 5 a 0 5000 1");
  EXPECT_THAT(said, Contains("eth0 rx-usecs: 50 -> 0"));
  EXPECT_THAT(said, Contains("eth0 interrupt 41: 0-3 -> 1"));
  EXPECT_THAT(said, Contains("/proc/sys/net/core/rmem_max: 212992 -> 33554432"));
  EXPECT_TRUE(fs::exists(file()));
  const Undone undone = undo();
  EXPECT_EQ(undone.failed + undone.gone, 0U);
  EXPECT_EQ(snapshot(), before);
  EXPECT_FALSE(fs::exists(file()));
}

TEST_F(tuner, guards__what_a_driver_changed_along_is_given_back) {
  write("/proc/irq/40/smp_affinity_list", "3");
  write("/proc/irq/41/smp_affinity_list", "2");  // needs no change, but is lost when the ring changes
  const std::string before = snapshot();
  apply();
  EXPECT_EQ(read("/proc/irq/40/smp_affinity_list"), "0-3");
  undo();
  EXPECT_EQ(snapshot(), before);
}

TEST_F(tuner, apply__again_keeps_the_first_values) {
  const std::string before = snapshot();
  EXPECT_GT(apply().changed, 0U);
  EXPECT_EQ(apply().changed, 0U);
  write(kDevice + "/gro_flush_timeout", "900000");
  EXPECT_EQ(apply().changed, 1U);
  undo();
  EXPECT_EQ(snapshot(), before);
}

TEST_F(tuner, refusals__are_told_and_not_fatal) {
  drivers.nics["eth0"].refuses = EOPNOTSUPP;
  const std::string before = snapshot();
  const Applied applied = apply();
  EXPECT_EQ(applied.refused, 5U);  // ring, GRO, three of coalescing
  EXPECT_GT(applied.changed, 0U);
  EXPECT_THAT(said, Contains("eth0 rx-usecs stays 50: 0 is refused (Operation not supported)"));
  EXPECT_EQ(undo().failed, 0U);
  EXPECT_EQ(snapshot(), before);
}

TEST_F(tuner, undo__a_refused_value_stays_in_the_ledger) {
  const std::string before = snapshot();
  apply();
  drivers.nics["eth0"].refuses = EBUSY;
  EXPECT_EQ(undo().failed, 6U);  // ring, GRO, three of coalescing, and tx-usecs, which followed rx-usecs
  EXPECT_THAT(
      said, Contains(HasSubstr("eth0 rx-usecs cannot be given back its value 50: Device or resource busy")));
  EXPECT_TRUE(fs::exists(file()));
  drivers.nics["eth0"].refuses = 0;
  EXPECT_EQ(undo().failed, 0U);
  EXPECT_EQ(snapshot(), before);
  EXPECT_FALSE(fs::exists(file()));
}

// The child is killed after its n-th step, for all n.
TEST_F(tuner, killed__after_each_step_can_be_undone) {
  drivers.nics["eth0"].coalescing.reset();  // values in memory end with the child; files stay
  drivers.nics["eth0"].rings.reset();
  drivers.nics["eth0"].features.clear();
  const std::string before = files();
  int step = 0;
  for (bool killed = true; killed; step++) {
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      auto l = ledger();
      int left = step;
      if (l)
        apply(*l, [&left](std::string_view) {
          if (left-- == 0) ::raise(SIGKILL);
        });
      ::_exit(l ? 0 : 1);
    }
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    killed = WIFSIGNALED(status);
    EXPECT_TRUE(killed || status == 0);
    EXPECT_NE(files(), before);
    undo();
    EXPECT_EQ(files(), before) << "after step " << step;
  }
  EXPECT_EQ(step, 10);  // nine changes, and one run without a kill
}

TEST_F(tuner, killed__between_saving_and_changing_and_within_a_line) {
  const std::string before = snapshot();
  {
    auto l = ledger();
    ASSERT_TRUE(l);
    const Setting setting{SettingKind::device_file, "eth0", "threaded"};
    ASSERT_TRUE(l->add({setting, 2, 0x020000000002, "1"}));
  }
  std::ofstream(file(), std::ios::app) << "device\teth0\t2\t02:00:00:00";
  apply();
  const Undone undone = undo();
  EXPECT_EQ(undone.failed + undone.gone, 0U);
  EXPECT_EQ(snapshot(), before);
}

TEST_F(tuner, undo__renamed_and_readdressed_interface) {
  apply();
  fs::rename(root / "sys/class/net/eth0", root / "sys/class/net/lan0");
  drivers.nics["lan0"] = drivers.nics["eth0"];
  drivers.nics["lan0"].on_rings = {};
  EXPECT_EQ(undo().failed, 0U);
  EXPECT_EQ(read("/sys/class/net/lan0/threaded"), "1");
  EXPECT_EQ(drivers.nics["lan0"].coalescing->rx_usecs, 50U);
  EXPECT_EQ(drivers.nics["eth0"].coalescing->rx_usecs, 0U);
}

TEST_F(tuner, undo__interface_that_is_gone) {
  apply();
  write(kDevice + "/ifindex", "9");  // another interface has its name
  said.clear();
  const Undone undone = undo();
  EXPECT_GT(undone.gone, 0U);
  EXPECT_EQ(undone.failed, 0U);
  EXPECT_EQ(undone.restored, 1U);  // of the host
  EXPECT_THAT(said, Contains("eth0 threaded: the interface is gone, and its settings with it"));
  EXPECT_EQ(read(kDevice + "/threaded"), "0");
  EXPECT_FALSE(fs::exists(file()));
}

TEST_F(tuner, undo__interrupt_of_somebody_else_now) {
  apply();
  write("/proc/interrupts", "  CPU0\n 40: 1 PCI-MSIX 0-edge eth0-TxRx-0\n 41: 1 PCI-MSIX 1-edge nvme0q1");
  fs::remove(root / "sys/devices/eth0/msi_irqs/41");
  write("/proc/irq/41/smp_affinity_list", "2");
  drivers.nics["eth0"].on_rings = {};
  EXPECT_EQ(undo().gone, 1U);
  EXPECT_EQ(read("/proc/irq/41/smp_affinity_list"), "2");
  EXPECT_EQ(read("/proc/irq/40/smp_affinity_list"), "0-3");
}

TEST_F(tuner, queues_set_apart__changed_and_given_back) {
  apply();  // now only the queues' values differ
  drivers.nics["eth0"].napis = std::vector<Napi>{{257, 40, 1, 5000, 0}, {258, 41, 7, 200000, 0}};
  EXPECT_EQ(apply().changed, 2U);
  EXPECT_THAT(said, Contains("eth0 NAPI 258/gro-flush-timeout: 200000 -> 5000"));
  EXPECT_EQ(drivers.nics["eth0"].napis->at(1).defer_hard_irqs, 1U);
  EXPECT_EQ(undo().failed, 0U);
  EXPECT_EQ(drivers.nics["eth0"].napis->at(1).defer_hard_irqs, 7U);
  EXPECT_EQ(drivers.nics["eth0"].napis->at(1).gro_flush_timeout, 200000U);
  EXPECT_EQ(drivers.nics["eth0"].napis->at(0).gro_flush_timeout, 5000U);
}

TEST_F(tuner, queue_that_is_gone__has_nothing_to_be_given_back) {
  apply();
  drivers.nics["eth0"].napis = std::vector<Napi>{{258, 41, 7, 200000, 0}};
  apply();
  drivers.nics["eth0"].napis = std::vector<Napi>{{300, 41, 1, 5000, 0}};
  const Undone undone = undo();
  EXPECT_EQ(undone.gone, 2U);
  EXPECT_EQ(undone.failed, 0U);
  EXPECT_EQ(drivers.nics["eth0"].napis->at(0).gro_flush_timeout, 5000U);
}

TEST_F(tuner, undo__nothing_was_saved) {
  EXPECT_EQ(undo().restored, 0U);
  EXPECT_FALSE(fs::exists(file()));
}

TEST_F(tuner, ledger__of_an_earlier_start_of_the_machine_counts_for_nothing) {
  apply();
  auto l = ledger("boot-2");
  ASSERT_TRUE(l);
  EXPECT_THAT(l->saved(), IsEmpty());
  ASSERT_TRUE(l->add({{SettingKind::ring, "eth0", "rx"}, 2, 0, "256"}));
  EXPECT_EQ(text(file()), "open-mx tune 1 boot-2\nring\teth0\t2\t00:00:00:00:00:00\trx\t256\n");
}

TEST_F(tuner, ledger__one_at_a_time) {
  auto first = ledger();
  ASSERT_TRUE(first);
  const auto second = ledger();
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().message,
            "another omx tune or omx steer is at work; try again when it has finished");
}

// The broker's socket is in the same folder. A user who could open the folder could lock it.
TEST_F(tuner, ledger__folder_may_be_passed_but_not_opened_by_others) {
  const mode_t before = ::umask(0077);
  ASSERT_TRUE(ledger());
  ::umask(before);
  struct stat about {};
  ASSERT_EQ(::stat(folder().c_str(), &about), 0);
  EXPECT_EQ(about.st_mode & 07777, 0711U);
}

TEST_F(tuner, ledger__written_by_others_or_damaged) {
  const std::string head = "open-mx tune 1 boot-1\n";
  const auto problem = [&](const std::string& content) {
    fs::create_directories(folder());
    std::ofstream(file()) << content;
    const auto l = ledger();
    return l ? "" : l.error().message;
  };
  EXPECT_EQ(problem(head), "");
  EXPECT_THAT(problem("something\n"), HasSubstr("is not a file of omx tune"));
  for (const char* line :
       {"device\teth0\t2\t02:00:00:00:00:02\tthreaded\n", "device\teth0\tx\t02:00:00:00:00:02\tthreaded\t1\n",
        "device\teth0\t2\t02\tthreaded\t1\n", "nonsense\teth0\t2\t02:00:00:00:00:02\tthreaded\t1\n",
        "device\teth0\t2\t02:00:00:00:00:02\t../../../etc/passwd\t1\n",
        "device\t../x\t2\t02:00:00:00:00:02\tthreaded\t1\n", "host\t\t0\t00:00:00:00:00:00\t/etc/passwd\t1\n",
        "host\t\t0\t00:00:00:00:00:00\t/proc/sys/net/core/../../kernel/core_pattern\t1\n",
        "irq\teth0\t2\t02:00:00:00:00:02\t4/../5\t1\n", "ring\teth0\t2\t02:00:00:00:00:02\tmini\t1\n",
        "coalescing\teth0\t2\t02:00:00:00:00:02\tfoo\t1\n"}) {
    EXPECT_THAT(problem(head + line), HasSubstr("line 2 of")) << line;
  }
  EXPECT_EQ(problem(head + "device\teth0\t2\t02:00:00:00:00:02\tqueues/rx-11/rps_cpus\t1\n"), "");
  ::chmod(file().c_str(), 0666);
  EXPECT_THAT(problem(head), HasSubstr("may have been written by others"));
  fs::remove(file());
  fs::create_symlink("/dev/null", file());
  EXPECT_THAT(ledger().error().message, HasSubstr("Too many levels of symbolic links"));
}

TEST_F(tuner, ledger__that_cannot_be_written__changes_nothing) {
  const auto impossible = Ledger::open((root / "none" / "deeper").string(), "tune", "boot-1");
  ASSERT_FALSE(impossible);
  EXPECT_THAT(impossible.error().message, HasSubstr("where former values are kept: No such file"));
  const std::string before = snapshot();
  auto l = ledger();
  ASSERT_TRUE(l);
  fs::remove_all(folder());
  EXPECT_FALSE(apply(*l, note));
  EXPECT_EQ(snapshot(), before);
}

}  // namespace
}  // namespace omx::tuning
