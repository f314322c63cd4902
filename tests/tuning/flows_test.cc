// SPDX-License-Identifier: BSD-3-Clause
#include "tuning/flows.h"

#include <gmock/gmock.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>

#include "tests/support/fake_machine.h"

namespace omx::tuning {
namespace {

using steering::FakeFlows;
using steering::flow_insert;
using steering::flow_name;
using steering::flow_parse;

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

steering::ReceiveQueues two_queues() {
  steering::ReceiveQueues queues;
  queues.interface = "eth0";
  queues.count = 2;
  queues.queues = {{0, "40", {2}, "interrupt 40"}, {1, "41", {3}, "interrupt 41"}};
  return queues;
}

std::vector<std::string> names(const std::vector<FlowRule>& rules) {
  std::vector<std::string> list;
  for (const FlowRule& rule : rules) list.push_back(flow_name(rule));
  return list;
}

TEST(flows_plan, ports_into_the_queue_of_the_endpoints_processor) {
  const std::array<std::uint32_t, 3> table{3, 2, 7};
  const auto rules = flows_plan(table, two_queues(), {2, 27200, 256, true, true});
  ASSERT_TRUE(rules) << rules.error().message;
  EXPECT_THAT(names(*rules),
              ElementsAre("udp4:27200:1@any", "udp6:27200:1@any", "udp4:27456:1@any", "udp6:27456:1@any",
                          "udp4:27201:0@any", "udp6:27201:0@any", "udp4:27457:0@any", "udp6:27457:0@any"));
  const auto third = flows_plan(table, two_queues(), {3, 27200, 256, true, false});
  ASSERT_FALSE(third);
  EXPECT_THAT(third.error().message, HasSubstr("brings frames to processor 7, only to 2,3: use --cpus 2,3,"));
}

TEST(flows_plan, a_queue_that_goes_there_alone_first) {
  steering::ReceiveQueues queues = two_queues();
  queues.queues.push_back({2, "42", {2, 3}, "interrupt 42"});
  queues.queues.push_back({3, "43", {2}, "interrupt 43"});
  const std::array<std::uint32_t, 3> table{2, 2, 2};
  const auto rules = flows_plan(table, queues, {3, 1024, 256, true, false});
  ASSERT_TRUE(rules);
  EXPECT_THAT(names(*rules), ElementsAre("udp4:1024:0@any", "udp4:1280:0@any", "udp4:1025:3@any",
                                         "udp4:1281:3@any", "udp4:1026:0@any", "udp4:1282:0@any"));
}

TEST(flows_plan, unbound_interrupts) {
  steering::ReceiveQueues queues = two_queues();
  for (auto& queue : queues.queues) queue.processors.clear();
  const std::array<std::uint32_t, 1> table{2};
  const auto rules = flows_plan(table, queues, {1, 1024, 256, true, false});
  ASSERT_FALSE(rules);
  EXPECT_THAT(rules.error().message, HasSubstr("omx tune eth0 binds their interrupts"));
}

class flows : public FakeMachine {
 protected:
  void SetUp() override {
    FakeMachine::SetUp();
    add_card("eth0", 2);
    nic().places = 8;
    // Rules of other owners: all of UDP port 53 is dropped, and TCP port 80 goes to queue 1.
    nic().rules[7] = spec(UDP_V4_FLOW, 53, RX_CLS_FLOW_DISC, 7);
    nic().rules[0] = spec(TCP_V4_FLOW, 80, 1, 0);
  }
  FakeFlows& nic() { return drivers.nics["eth0"].flows; }
  static ethtool_rx_flow_spec spec(std::uint32_t type, std::uint16_t port, std::uint64_t queue,
                                   std::uint32_t place) {
    ethtool_rx_flow_spec s{};
    s.flow_type = type;
    s.h_u.udp_ip4_spec.pdst = static_cast<std::uint16_t>(port << 8 | port >> 8);
    s.m_u.udp_ip4_spec.pdst = 0xffff;
    s.ring_cookie = queue;
    s.location = place;
    return s;
  }

  link::Interface card() const {
    link::Interface interface = interface_of("eth0");
    interface.driver = driver_;
    return interface;
  }
  std::string folder() const { return (root / "state").string(); }
  Result<FlowsApplied> apply(std::uint32_t endpoints, std::uint32_t first_queue = 0) {
    auto ledger = Ledger::open(folder(), "flows", "boot-1");
    if (!ledger) return tl::unexpected(ledger.error());
    std::vector<FlowRule> rules;
    for (std::uint32_t e = 0; e < endpoints; e++)
      for (const std::uint32_t beyond : {0U, 256U})
        rules.push_back({false, static_cast<std::uint16_t>(27200 + e + beyond), (e + first_queue) % 2});
    return flows_apply(machine, *ledger, card(), rules, 2);
  }
  Undone remove() {
    auto ledger = Ledger::open(folder(), "flows", "boot-1");
    EXPECT_TRUE(ledger) << ledger.error().message;
    const link::Interface interface = interface_of("eth0");
    const auto undone = flows_remove(machine, *ledger, &interface,
                                     [this](std::string_view line) { said.emplace_back(line); });
    EXPECT_TRUE(undone) << undone.error().message;
    return *undone;
  }
  // Returns the rules that can be ours, and the places of the others.
  std::string shown() {
    std::string all;
    const auto table = drivers.flows("eth0");
    for (const FlowPlace& at : table->taken)
      all += (all.empty() ? "" : " ") + (at.rule ? flow_name(*at.rule) : "other@" + std::to_string(at.place));
    return all;
  }
  // Kills a child before or after its insertion number `step`.
  void apply_killed(unsigned step, bool behind) {
    int ends[2];
    ASSERT_EQ(::pipe(ends), 0);
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      unsigned count = 0;
      const auto die = [&] {
        for (const auto& [place, rule] : nic().rules)
          if (::write(ends[1], &rule, sizeof rule) != sizeof rule) ::_exit(2);
        ::raise(SIGKILL);
      };
      nic().on_insert = [&] {
        if (!behind && count == step) die();
        return 0;
      };
      nic().inserted = [&] {
        if (behind && count == step) die();
        count++;
      };
      ::_exit(apply(3) ? 0 : 1);
    }
    ::close(ends[1]);
    nic().rules.clear();  // the child reports the NIC's rules next
    ethtool_rx_flow_spec rule{};
    while (::read(ends[0], &rule, sizeof rule) == sizeof rule) nic().rules[rule.location] = rule;
    ::close(ends[0]);
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFSIGNALED(status)) << step;
  }
  bool ledger_empty() const { return fs::is_empty(folder()); }

  const std::string kOthers = "other@0 other@7";
  std::vector<std::string> said;
  std::string driver_;
};

TEST_F(flows, last_free_places_and_exactly_taken_back) {
  const auto applied = apply(2);
  ASSERT_TRUE(applied) << applied.error().message;
  EXPECT_EQ(applied->added, 4U);
  EXPECT_EQ(shown(), "other@0 udp4:27457:1@3 udp4:27201:1@4 udp4:27456:0@5 udp4:27200:0@6 other@7");
  const Undone undone = remove();
  EXPECT_EQ(undone.restored, 4U);
  EXPECT_EQ(undone.failed + undone.gone, 0U);
  EXPECT_EQ(shown(), kOthers);
  EXPECT_TRUE(ledger_empty());
  EXPECT_EQ(remove().restored, 0U);
}

TEST_F(flows, again__keeps_what_is_right_and_replaces_the_rest) {
  ASSERT_TRUE(apply(3));
  const std::string three = shown();
  auto again = apply(3);
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(again->kept, 6U);
  EXPECT_EQ(again->added + again->removed, 0U);
  EXPECT_EQ(shown(), three);
  again = apply(3, 1);  // there is not enough room for both sets of rules at once
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(again->kept, 0U);
  EXPECT_EQ(again->removed, 6U);
  EXPECT_EQ(again->added, 6U);
  again = apply(1, 1);
  ASSERT_TRUE(again);
  EXPECT_EQ(again->kept, 2U);
  EXPECT_EQ(again->removed, 4U);
  remove();
  EXPECT_EQ(shown(), kOthers);
}

TEST_F(flows, too_few_places__nothing_changes) {
  ASSERT_TRUE(apply(1));
  const std::string before = shown();
  const auto applied = apply(4);
  ASSERT_FALSE(applied);
  EXPECT_EQ(
      applied.error().message,
      "eth0 has 8 places for flow rules, of which 4 are free, and 6 more are needed: use --endpoints 3");
  EXPECT_EQ(shown(), before);
}

TEST_F(flows, too_few_places_of_a_driver_that_refuses__no_advice_that_fails) {
  nic().on_insert = [] { return EINVAL; };
  const auto applied = apply(16);
  ASSERT_FALSE(applied);
  EXPECT_EQ(applied.error().message,
            "the driver of eth0 refuses the flow rule for UDP port 27200 of IPv4 to queue 0 in place 6 "
            "(Invalid argument)");
  EXPECT_EQ(shown(), kOthers);
  EXPECT_TRUE(ledger_empty());
}

TEST_F(flows, too_few_places__the_trial_leaves_nothing) {
  const auto applied = apply(16);
  ASSERT_FALSE(applied);
  EXPECT_THAT(applied.error().message, HasSubstr("use --endpoints 3"));
  EXPECT_EQ(shown(), kOthers);
  EXPECT_TRUE(ledger_empty());
  EXPECT_TRUE(apply(3));
}

TEST_F(flows, drivers_that_take_no_rules_by_port__said_before_anything_is_tried) {
  nic().on_insert = [] {
    ADD_FAILURE() << "tried";
    return 0;
  };
  for (const char* driver : {"igb", "igc"}) {
    driver_ = driver;
    const auto applied = apply(1);
    ASSERT_FALSE(applied) << driver;
    EXPECT_THAT(applied.error().message, HasSubstr(std::string("the driver ") + driver +
                                                   " of eth0 takes flow rules by Ethernet type"));
  }
}

TEST_F(flows, driver_without_ipv6) {
  driver_ = "ixgbe";
  ASSERT_TRUE(apply(1));
  auto ledger = Ledger::open(folder(), "flows", "boot-1");
  ASSERT_TRUE(ledger);
  const auto six = flows_apply(machine, *ledger, card(), {{true, 27200, 0}}, 1);
  ASSERT_FALSE(six);
  EXPECT_THAT(six.error().message, HasSubstr("for UDP over IPv4 only"));
}

TEST_F(flows, scope_fit__as_much_as_the_nic_takes) {
  const std::array<std::uint32_t, 16> table{2, 3, 2, 3, 2, 3, 2, 3, 2, 3, 2, 3, 2, 3, 2, 3};
  const auto fit = [&](bool ipv4, bool ipv6) {
    auto ledger = Ledger::open(folder(), "flows", "boot-1");
    EXPECT_TRUE(ledger);
    return flows_scope_fit(machine, *ledger, card(), table, two_queues(), {16, 27200, 256, ipv4, ipv6});
  };
  EXPECT_EQ(fit(true, false)->endpoints, 3U);
  EXPECT_EQ(fit(true, true)->endpoints, 1U);
  ASSERT_TRUE(apply(2));
  EXPECT_EQ(fit(true, false)->endpoints, 3U) << "those of ours that are there count";
  nic().places = 18;
  EXPECT_EQ(fit(true, false)->endpoints, 8U);
  nic().places = 1000;
  EXPECT_EQ(fit(true, false)->endpoints, 16U);
  EXPECT_TRUE(fit(true, true)->ipv6);
  driver_ = "ixgbe";
  EXPECT_FALSE(fit(true, true)->ipv6);
  EXPECT_FALSE(fit(false, true));
  remove();
  nic().places = 2;  // both are taken
  nic().rules[1] = spec(TCP_V4_FLOW, 81, 1, 1);
  nic().rules.erase(7);
  EXPECT_EQ(fit(true, false)->endpoints, 1U) << "flows_apply says that there is no room";
}

TEST_F(flows, refused_in_the_middle__none_of_ours_stays) {
  ASSERT_TRUE(apply(1));
  int left = 2;
  nic().on_insert = [&left] { return left-- == 0 ? ENOMEM : 0; };
  const auto applied = apply(3);
  ASSERT_FALSE(applied);
  EXPECT_THAT(applied.error().message,
              testing::AllOf(HasSubstr("refuses the flow rule for UDP port 27202 of IPv4 to queue 0"),
                             HasSubstr("no flow rules of omx steer are on eth0 now")));
  EXPECT_EQ(shown(), kOthers);
  EXPECT_TRUE(ledger_empty());
}

TEST_F(flows, killed_anywhere__the_next_run_and_off_clean_up) {
  for (unsigned step = 0; step < 6; step++) {
    for (const bool behind : {false, true}) {
      ASSERT_NO_FATAL_FAILURE(apply_killed(step, behind));
      EXPECT_EQ(nic().rules.size(), 2U + step + (behind ? 1 : 0));
      if (step % 2 == 0) {
        const auto again = apply(2);
        ASSERT_TRUE(again) << again.error().message;
        EXPECT_EQ(nic().rules.size(), 6U);
      }
      remove();
      EXPECT_EQ(shown(), kOthers) << step;
      EXPECT_TRUE(ledger_empty());
    }
  }
}

TEST_F(flows, rules_of_others_for_our_ports) {
  nic().rules[3] = spec(UDP_V4_FLOW, 27200, 0, 3);
  const auto applied = apply(1);
  ASSERT_TRUE(applied) << applied.error().message;
  EXPECT_EQ(applied->others, 1U);
  EXPECT_EQ(applied->added, 1U);
  remove();
  EXPECT_EQ(shown(), "other@0 udp4:27200:0@3 other@7");
  const auto other_queue = apply(1, 1);
  ASSERT_FALSE(other_queue);
  EXPECT_THAT(other_queue.error().message, HasSubstr("ethtool -N eth0 delete 3"));
  EXPECT_EQ(shown(), "other@0 udp4:27200:0@3 other@7");
}

TEST_F(flows, a_place_that_somebody_else_took__stays) {
  ASSERT_TRUE(apply(1));
  nic().rules[6] = spec(UDP_V4_FLOW, 99, 1, 6);
  EXPECT_EQ(remove().restored, 1U);
  EXPECT_EQ(shown(), "other@0 udp4:99:1@6 other@7");
  EXPECT_TRUE(ledger_empty());
}

TEST_F(flows, deletion_refused__stays_known) {
  ASSERT_TRUE(apply(1));
  nic().refuses_deletion = EIO;
  EXPECT_EQ(remove().failed, 2U);
  EXPECT_FALSE(ledger_empty());
  const auto other = apply(1, 1);
  ASSERT_FALSE(other);
  EXPECT_THAT(other.error().message, HasSubstr("omx steer eth0 --off tries again"));
  nic().refuses_deletion = 0;
  EXPECT_EQ(remove().restored, 2U);
  EXPECT_EQ(shown(), kOthers);
}

TEST_F(flows, nic_that_chooses_places) {
  nic().chooses = true;
  ASSERT_TRUE(apply(2));
  EXPECT_EQ(shown(), "other@0 udp4:27200:0@1 udp4:27456:0@2 udp4:27201:1@3 udp4:27457:1@4 other@7");
  const auto again = apply(2);
  ASSERT_TRUE(again);
  EXPECT_EQ(again->kept, 4U);
  EXPECT_EQ(remove().restored, 4U);
  EXPECT_EQ(shown(), kOthers);
}

TEST_F(flows, driver_that_shows_another_rule) {
  nic().blind = true;
  const auto applied = apply(1);
  ASSERT_FALSE(applied);
  EXPECT_THAT(applied.error().message, HasSubstr("does not show the flow rule for UDP port 27200"));
  EXPECT_EQ(shown(), kOthers);
}

TEST_F(flows, none__one_sentence) {
  nic().places = 0;
  auto applied = apply(1);
  ASSERT_FALSE(applied);
  EXPECT_THAT(applied.error().message, HasSubstr("eth0 takes no flow rules"));
  nic().places = 8;
  drivers.nics["eth0"].features = {{"rx-ntuple-filter", true, false, false}};
  applied = apply(1);
  ASSERT_FALSE(applied);
  EXPECT_EQ(applied.error().message, "flow rules of eth0 are switched off: ethtool -K eth0 ntuple on");
  nic().on_insert = [] { return EPERM; };
  drivers.nics["eth0"].features.clear();
  applied = apply(1);
  ASSERT_FALSE(applied);
  EXPECT_THAT(applied.error().message, HasSubstr("sudo omx steer"));
}

TEST_F(flows, interface_gone__forgotten) {
  ASSERT_TRUE(apply(1));
  fs::remove_all(root / "sys" / "class" / "net" / "eth0");
  auto ledger = Ledger::open(folder(), "flows", "boot-1");
  ASSERT_TRUE(ledger);
  const auto undone = flows_remove(machine, *ledger, nullptr, [](std::string_view) {});
  ASSERT_TRUE(undone);
  EXPECT_EQ(undone->gone, 2U);
  EXPECT_TRUE(ledger_empty());
}

TEST_F(flows, read__of_these_ports) {
  ASSERT_TRUE(apply(2));
  nic().rules[1] = spec(UDP_V4_FLOW, 27199, 1, 1);
  EXPECT_THAT(names(flows_read(machine, "eth0", {2, 27200, 256, true, true})),
              ElementsAre("udp4:27200:0@6", "udp4:27201:1@4", "udp4:27456:0@5", "udp4:27457:1@3"));
  EXPECT_THAT(flows_read(machine, "eth1", {2, 27200, 256, true, true}), IsEmpty());
}

}  // namespace
}  // namespace omx::tuning
