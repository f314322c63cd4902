// SPDX-License-Identifier: BSD-3-Clause
#include "steering/placement.h"

#include <gmock/gmock.h>

#include <set>

#include "base/cpu_list.h"
#include "steering/flow_hints.h"
#include "steering/topology.h"
#include "steering/xdp/steer_table.h"
#include "tests/support/fake_flows.h"
#include "tests/support/fake_tree.h"

namespace omx::steering {
namespace {

using testing::AllOf;
using testing::HasSubstr;

constexpr NicId kPlacedBoard = 0x020000000001;

// A machine with two caches of four cores each. Queue q of eight goes to processor q.
class placement : public testing::Test, public Surroundings {
 protected:
  std::vector<int> affinity() override { return affinity_; }
  std::vector<int> possible() override { return possible_; }
  ReceiveQueues queues() override { return queues_; }
  std::vector<int> beside(int cpu) override {
    return topology_ ? topology_->beside(cpu) : std::vector<int>{};
  }
  bool take(int cpu) override {
    if (!used_.insert(cpu).second) return false;
    taken_.push_back(cpu);
    return true;
  }

  void SetUp() override {
    auto topology = topology_load("pack:2 l3:1 core:4 pu:1");
    ASSERT_TRUE(topology) << topology.error();
    topology_ = std::move(*topology);
    processors_are("0-7");
    queues_ = {"eth0", 8, {}};
    for (int i = 0; i < 8; i++) queue_is(i, std::to_string(i));
  }
  void processors_are(const std::string& cpus) { affinity_ = possible_ = cpu_list_parse(cpus); }
  void queue_is(int number, const std::string& cpus) {
    ReceiveQueue queue{number, "40", cpu_list_parse(cpus),
                       "interrupt 40 (eth0-" + std::to_string(number) + ")"};
    if (queues_.queues.size() <= static_cast<std::size_t>(number)) queues_.queues.push_back(queue);
    queues_.queues[static_cast<std::size_t>(number)] = queue;
  }
  Placement placed(const std::string& setting, std::uint32_t endpoint, bool udp = false) {
    queues_.udp = udp;
    return place(*binding_setting_parse(setting), {kPlacedBoard, endpoint}, *this);
  }
  // Returns where endpoint e goes in automatic mode, or "stays".
  std::string automatic(std::uint32_t endpoint, bool udp = false) {
    last_ = placed("auto", endpoint, udp);
    EXPECT_FALSE(last_.refused);
    for (const int cpu : last_.processors) EXPECT_THAT(affinity_, testing::Contains(cpu));
    return last_.processors.empty() ? "stays" : cpu_list_text(last_.processors);
  }

  std::vector<int> affinity_, possible_;
  ReceiveQueues queues_;
  std::unique_ptr<Topology> topology_;
  std::set<int> used_;
  std::vector<int> taken_;
  Placement last_;
};

TEST_F(placement, off__asks_nothing) {
  EXPECT_TRUE(placed("off", 0).processors.empty());
  EXPECT_TRUE(taken_.empty());
}

TEST_F(placement, automatic__to_the_processor_of_the_queue) {
  EXPECT_EQ(automatic(3), "3");
  EXPECT_EQ(last_.reason, "where interrupt 40 (eth0-3) brings its frames");
  EXPECT_EQ(taken_, std::vector<int>{3});
  EXPECT_EQ(automatic(13), "5");
}

TEST_F(placement, automatic__beside_another_endpoint) {
  EXPECT_EQ(automatic(5), "5");
  EXPECT_EQ(automatic(13), "4");
  EXPECT_THAT(last_.reason,
              AllOf(HasSubstr("shares a cache with processor 5"), HasSubstr("another endpoint is")));
  EXPECT_EQ(automatic(21), "6");
}

TEST_F(placement, automatic__more_endpoints_than_cores) {
  for (std::uint32_t e = 0; e < 4; e++) EXPECT_EQ(automatic(8 * e), std::to_string(e));
  // The fifth endpoint of this queue shares all four processors, instead of one of them or a distant one.
  EXPECT_EQ(automatic(32), "0-3");
  EXPECT_EQ(taken_.size(), 4U);
  EXPECT_EQ(automatic(4), "4");
}

TEST_F(placement, automatic__more_endpoints_than_cores_of_one_cache) {
  auto topology = topology_load("pack:1 l3:1 core:2 pu:1");
  ASSERT_TRUE(topology);
  topology_ = std::move(*topology);
  processors_are("0,1");
  queues_ = {"eth0", 1, {}};
  queue_is(0, "0");
  EXPECT_EQ(automatic(0), "0");
  EXPECT_EQ(automatic(1), "1");
  EXPECT_EQ(automatic(2), "stays");
  EXPECT_THAT(last_.reason, HasSubstr("other endpoints have"));
}

TEST_F(placement, automatic__interrupts_with_several_processors) {
  queue_is(0, "2,6");
  EXPECT_EQ(automatic(0), "2");
  EXPECT_EQ(automatic(0), "6");
  EXPECT_EQ(automatic(0), "0");  // this processor shares the cache of 2
  queue_is(1, "");
  EXPECT_EQ(automatic(1), "stays");
  EXPECT_EQ(last_.reason, "which processor handles the frames of eth0 is not known");
}

TEST_F(placement, automatic__offline_cores_are_not_used) {
  processors_are("0,2-7");
  queue_is(1, "0");
  EXPECT_EQ(automatic(1), "0");
  EXPECT_EQ(automatic(9), "2");
}

TEST_F(placement, automatic__a_cpuset_smaller_than_the_machine) {
  processors_are("2-5");
  EXPECT_EQ(automatic(4), "4");
  EXPECT_EQ(automatic(0), "2");  // 0 is forbidden, and 2 shares its cache
  EXPECT_THAT(last_.reason, HasSubstr("it may not run"));
  EXPECT_EQ(automatic(1), "3");
  EXPECT_EQ(automatic(0), "2,3");  // both are used
  processors_are("4-5");
  EXPECT_EQ(automatic(0), "stays");
  EXPECT_THAT(last_.reason, AllOf(HasSubstr("none of"), HasSubstr("4,5")));
  processors_are("3");
  EXPECT_EQ(automatic(3), "stays");
}

TEST_F(placement, automatic__who_is_bound_stays_and_is_seen) {
  affinity_ = {3};
  EXPECT_EQ(automatic(0), "stays");
  EXPECT_EQ(last_.reason, "it is bound to processor 3 already");
  processors_are("0-7");
  EXPECT_EQ(automatic(3), "0");  // the processor beside it
  affinity_ = cpu_list_parse("0-3");
  EXPECT_EQ(automatic(0), "stays");
  EXPECT_EQ(last_.reason, "it is bound to processors 0-3 already");
}

TEST_F(placement, automatic__without_knowledge_of_caches) {
  topology_.reset();
  EXPECT_EQ(automatic(3), "3");
  EXPECT_EQ(automatic(3), "stays");
}

TEST_F(placement, automatic__datagrams_go_to_any_queue) {
  EXPECT_EQ(automatic(3, true), "stays");
  queues_ = {"eth0", 1, {}};
  queue_is(0, "6");
  EXPECT_EQ(automatic(3, true), "6");
}

TEST_F(placement, automatic__datagrams_where_flow_rules_bring_them) {
  FakeFlows nic;
  nic.places = 8;
  ASSERT_EQ(flow_insert(nic.call(), {false, 27203, 6, 5}), 0);
  ASSERT_EQ(flow_insert(nic.call(), {false, 27204, 9, 6}), 0);
  queues_.flows = flow_hints(*flow_table_read(nic.call()), {27200, true, false});
  EXPECT_EQ(automatic(3, true), "6");
  EXPECT_EQ(last_.reason, "where a flow rule, by interrupt 40 (eth0-6), brings its frames");
  EXPECT_EQ(automatic(2, true), "stays") << "it has no rule";
  EXPECT_EQ(automatic(4, true), "stays") << "of that queue nothing is known";
  queues_.steered.unreadable = "eth0 has a program";
  EXPECT_EQ(automatic(3, true), "4") << "beside it; XDP lets datagrams pass";
  EXPECT_EQ(automatic(3, false), "stays") << "frames go by the program";
  queues_.steered = {};
  EXPECT_EQ(automatic(3, false), "3") << "and not by rules for datagrams";
}

TEST_F(placement, automatic__steered) {
  const auto table = steer_table_make("5,0-2", "9:7", possible_);
  ASSERT_TRUE(table) << table.error().message;
  queues_.steered.interface = "eth0";
  for (const std::uint32_t cpu : *table) queues_.steered.processors.push_back(static_cast<int>(cpu));
  EXPECT_EQ(automatic(0), "5");
  EXPECT_EQ(last_.reason, "where omx steer on eth0 brings its frames");
  EXPECT_EQ(automatic(9), "7");
  EXPECT_EQ(automatic(2), "1");
  EXPECT_EQ(automatic(6), "0") << "beside 1, that 2 has";
  queues_.steered.processors[3] = -1;
  EXPECT_EQ(automatic(3), "stays") << "switched off since";
  queues_ = {"eth0", 1, {}};
  queue_is(0, "6");
  queues_.steered.processors.assign(256, 2);
  EXPECT_EQ(automatic(3, true), "6") << "datagrams pass";
  queue_is(0, "4");
  queues_.rps = true;
  EXPECT_EQ(automatic(3), "4") << "RPS has the last word";
}

TEST_F(placement, automatic__steered_perhaps) {
  queues_.steered.unreadable = "eth0 has a program";
  EXPECT_EQ(automatic(3), "stays");
  EXPECT_EQ(last_.reason, "eth0 has a program");
  queues_.rps = true;
  EXPECT_EQ(automatic(3), "3");
}

TEST_F(placement, automatic__nothing_known) {
  queues_ = {"veth0", 4, {}};
  EXPECT_EQ(automatic(0), "stays");
  processors_are("0-7");
  affinity_.clear();
  EXPECT_EQ(automatic(0), "stays");
  processors_are("0-7");
  possible_.clear();
  queue_is(0, "1");
  EXPECT_EQ(automatic(0), "1");
}

TEST_F(placement, listed__by_endpoint_number) {
  EXPECT_EQ(placed("0,2,4", 4).processors, std::vector<int>{2});
  EXPECT_EQ(placed("all:5", 4).processors, std::vector<int>{5});
  // The setting also holds if another endpoint has the processor or the thread is bound elsewhere.
  affinity_ = {0};
  EXPECT_EQ(placed("2", 4).processors, std::vector<int>{2});
  EXPECT_EQ(taken_, (std::vector<int>{2, 5}));
}

// omx steer IFACE --cpus LIST and OMX_PROCESS_BINDING=LIST belong together (docs/how-to/steer.md).
TEST_F(placement, listed__where_omx_steer_hands_the_frames) {
  for (const char* list : {"2-5", "2", "5,0-2", "1,1,7"}) {
    const auto table = steer_table_make(list, "", possible_);
    ASSERT_TRUE(table) << table.error().message;
    for (std::uint32_t e = 0; e < kSteerEndpoints; e++)
      ASSERT_EQ(placed(list, e).processors, std::vector<int>{static_cast<int>((*table)[e])}) << list;
  }
}

TEST_F(placement, listed__what_is_not_allowed) {
  processors_are("0-3");
  const Placement p = placed("0,9", 1);
  EXPECT_TRUE(p.refused);
  EXPECT_TRUE(p.processors.empty());
  EXPECT_THAT(p.reason, HasSubstr("processor 9 is not one that this process may use (0-3)"));
  EXPECT_EQ(placed("0,9", 2).processors, std::vector<int>{0});
}

class placement_by_file : public placement {
 protected:
  struct Tree : link::FakeTree {
    using FakeTree::root;
    using FakeTree::SetUp;
    using FakeTree::TearDown;
    using FakeTree::write;
    void TestBody() override {}
  };
  void SetUp() override {
    placement::SetUp();
    tree_.SetUp();
  }
  void TearDown() override { tree_.TearDown(); }
  std::string setting() const { return "file:" + tree_.root.string() + "/bindings"; }

  Tree tree_;
};

TEST_F(placement_by_file, its_line) {
  tree_.write(
      "/bindings",
      "board 02:00:00:00:00:01 ep 0 irq 45 mask 4\nboard 02:00:00:00:00:01 ep 1 irq 46 mask 8,000000f0\n"
      "board 02:00:00:00:00:02 ep 2 irq 45 mask 1\nboard 02:00:00:00:00:01 ep 3 irq 45 mask 8,00000000");
  EXPECT_EQ(placed(setting(), 0).processors, std::vector<int>{2});
  EXPECT_EQ(placed(setting(), 1).processors, (std::vector<int>{4, 5, 6, 7}));
  EXPECT_EQ(taken_, std::vector<int>{2});
  Placement p = placed(setting(), 2);
  EXPECT_TRUE(p.refused);
  EXPECT_THAT(p.reason, HasSubstr("has no line for board 02:00:00:00:00:01 ep 2"));
  p = placed(setting(), 3);
  EXPECT_TRUE(p.refused);
  EXPECT_THAT(p.reason, HasSubstr("gives it processors (35) that this process may not use (0-7)"));
}

TEST_F(placement_by_file, without_a_file) {
  const Placement p = placed(setting(), 0);
  EXPECT_TRUE(p.refused);
  EXPECT_THAT(p.reason, HasSubstr("No such file"));
}

}  // namespace
}  // namespace omx::steering
