// SPDX-License-Identifier: BSD-3-Clause
// OMX_PROCESS_BINDING on this machine: the affinity of threads that open endpoints. RPS of a virtual cable
// says where frames are handled.
#include "runtime/board/binding.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <array>
#include <fstream>
#include <thread>

#include "base/affinity.h"
#include "base/cpu_list.h"
#include "base/log.h"
#include "base/own_fd.h"
#include "steering/topology.h"
#include "tests/support/child.h"
#include "tests/support/pair.h"

namespace omx::runtime {
namespace {

using testing::HasSubstr;

class binding : public PairTest {
 protected:
  void SetUp() override {
    before_ = affinity_read();
    if (before_.size() < 2) GTEST_SKIP() << "this needs two processors";
    one_ = before_[1];
    opens_ = false;
    PairTest::SetUp();
    process_.reset();
  }
  void TearDown() override {
    process_.reset();
    affinity_set(before_);
    g_log_level.store(static_cast<int>(LogLevel::warn));
  }

  void start(const std::string& setting) {
    Settings s = settings();
    s.verbose = 2;
    s.binding = *steering::binding_setting_parse(setting);
    process_ = process_create(s);
    ASSERT_TRUE(process_);
  }
  // Opens an endpoint. Returns what the log said about the thread.
  std::string opened(const std::string& interface = "v0") {
    testing::internal::CaptureStderr();
    a_ = open(*process_, interface);
    std::istringstream said(testing::internal::GetCapturedStderr());
    std::string about;
    for (std::string line; std::getline(said, line);)
      if (line.find("this thread") != std::string::npos) about += line + "\n";
    return about;
  }
  // Makes that processor handle the frames of both ends.
  void frames_arrive_at(int cpu) {
    std::string reason;
    if (!link::sysfs_enter(reason)) GTEST_SKIP() << reason;
    for (const char* end : {"v0", "v1"}) {
      std::ofstream file(std::string("/sys/class/net/") + end + "/queues/rx-0/rps_cpus");
      file << cpu_mask_text({cpu}) << std::endl;
      if (!file) GTEST_SKIP() << "no RPS in this kernel";
    }
  }
  static bool taken(int cpu) {
    const auto claim = claim_processor(cpu);
    return claim && !claim->held();
  }

  std::vector<int> before_;
  int one_ = 0;
};

// This test comes first: a processor set that this process chose itself does not count as the application's.
TEST_F(binding, automatic__who_is_bound_stays) {
  frames_arrive_at(before_[0]);
  if (IsSkipped()) return;
  ASSERT_EQ(affinity_set({one_}), 0);
  start("auto");
  EXPECT_THAT(opened(), HasSubstr("it is bound to processor " + std::to_string(one_) + " already"));
  EXPECT_EQ(affinity_read(), std::vector<int>{one_});
  EXPECT_TRUE(taken(one_));
}

TEST_F(binding, off__nothing_changes) {
  start("off");
  EXPECT_EQ(opened(), "");
  EXPECT_EQ(affinity_read(), before_);
  EXPECT_FALSE(taken(one_));
}

TEST_F(binding, listed__is_set_and_lasts) {
  start("all:" + std::to_string(one_));
  const std::string said = opened();
  EXPECT_THAT(said, HasSubstr("v0 endpoint 0: this thread runs on processor " + std::to_string(one_)));
  EXPECT_EQ(affinity_read(), std::vector<int>{one_});
  EXPECT_TRUE(taken(one_));
  EXPECT_TRUE(process_->close(a_));
  EXPECT_EQ(affinity_read(), std::vector<int>{one_});
  EXPECT_FALSE(taken(one_));
}

TEST_F(binding, listed__an_impossible_processor_is_told_once) {
  start("all:1000");
  const std::string said = opened();
  EXPECT_THAT(said, HasSubstr("processor 1000 is not one that this process may use"));
  EXPECT_EQ(std::count(said.begin(), said.end(), '\n'), 1);
  EXPECT_EQ(affinity_read(), before_);
  EXPECT_TRUE(a_);
}

TEST_F(binding, by_file__without_one) {
  start("file:/nowhere/bindings");
  EXPECT_THAT(opened(), HasSubstr("cannot read /nowhere/bindings"));
  EXPECT_EQ(affinity_read(), before_);
}

TEST_F(binding, automatic__where_nothing_is_known) {
  start("auto");
  EXPECT_THAT(opened(), HasSubstr("which processor handles the frames of v0 is not known"));
  EXPECT_EQ(affinity_read(), before_);
}

TEST_F(binding, automatic__where_frames_are_handled) {
  frames_arrive_at(one_);
  if (IsSkipped()) return;
  start("auto");
  EXPECT_THAT(opened(), HasSubstr("where RPS of v0 rx-0 brings its frames"));
  EXPECT_EQ(affinity_read(), std::vector<int>{one_});
  // A thread that has an endpoint stays where it is.
  EXPECT_THAT(opened("v1"), HasSubstr("this thread stays on processor " + std::to_string(one_)));
  EXPECT_EQ(affinity_read(), std::vector<int>{one_});
}

TEST_F(binding, automatic__again_after_a_close) {
  frames_arrive_at(one_);
  if (IsSkipped()) return;
  start("auto");
  for (int i = 0; i < 3; i++) {
    EXPECT_THAT(opened(), HasSubstr("runs on processor " + std::to_string(one_)));
    EXPECT_EQ(affinity_read(), std::vector<int>{one_});
    EXPECT_TRUE(process_->close(a_));
  }
}

class binding_beside : public binding {
 protected:
  // Returns the processors for a second endpoint if its frames arrive at the processor of the first.
  std::vector<int> expected() const {
    const auto topology = steering::topology_load();
    std::vector<int> near = {one_};
    if (topology) {
      for (const int cpu : (*topology)->beside(one_))
        if (std::find(before_.begin(), before_.end(), cpu) != before_.end()) near.push_back(cpu);
    }
    return near.size() > 1 ? std::vector<int>{near[1]} : before_;
  }
};

// A second thread inherits the processor of the first, which does not count as the application's choice.
TEST_F(binding_beside, a_thread_for_each_endpoint) {
  frames_arrive_at(one_);
  if (IsSkipped()) return;
  start("auto");
  opened();
  std::vector<int> second;
  std::thread([&] {
    open(*process_, "v1");
    second = affinity_read();
  }).join();
  EXPECT_EQ(affinity_read(), std::vector<int>{one_});
  if (expected() != before_) {
    EXPECT_EQ(second, expected());
  }
}

TEST_F(binding_beside, a_forked_child_starts_over) {
  frames_arrive_at(one_);
  if (IsSkipped()) return;
  start("auto");
  opened();
  if (expected() == before_) GTEST_SKIP() << "no two processors share a cache here";
  EXPECT_TRUE(in_child([&] {
    Settings s = settings();
    s.binding.mode = steering::BindingMode::automatic;
    const auto process = Process::create(s);
    return process && (*process)->open({}) && affinity_read() == expected();
  }));
  EXPECT_EQ(affinity_read(), std::vector<int>{one_});
}

// Another program holds the ports of the first two endpoints.
TEST_F(binding, listed__ids_tried_in_vain_are_not_told_about) {
  link::ip("address add 10.9.8.7/24 dev v0");
  Settings s = settings();
  s.interfaces = "v0";
  s.link = LinkKind::udp;
  s.binding = *steering::binding_setting_parse("all:1000");
  process_ = process_create(s);
  ASSERT_TRUE(process_);
  std::array<OwnFd, 2> others;
  for (std::size_t i = 0; i < others.size(); i++) {
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_port = htons(static_cast<std::uint16_t>(s.udp_port + i));
    at.sin_addr.s_addr = ::inet_addr("10.9.8.7");
    others[i] = OwnFd(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    ASSERT_EQ(::bind(others[i].get(), reinterpret_cast<sockaddr*>(&at), sizeof at), 0);
  }
  const std::string said = opened();
  ASSERT_TRUE(a_);
  EXPECT_EQ(a_->id(), 2);
  EXPECT_THAT(said, HasSubstr("v0 endpoint 2: this thread stays"));
  EXPECT_EQ(std::count(said.begin(), said.end(), '\n'), 1) << said;
}

TEST_F(binding, failed_open__leaves_nothing) {
  start("all:" + std::to_string(one_));
  link::ip("link del v0");
  OpenOptions options;
  options.board = 0;
  EXPECT_FALSE(process_->open(options));
  EXPECT_EQ(affinity_read(), before_);
  EXPECT_FALSE(taken(one_));
}

}  // namespace
}  // namespace omx::runtime
