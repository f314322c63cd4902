// SPDX-License-Identifier: BSD-3-Clause
// Tests of endpoints that share a hook, in processes that start, end, are stopped and killed.
#include "link/fanout/fanout_group.h"

#include <fmt/format.h>

#include <random>

#include "fanout_neighbours.h"
#include "link/fanout/fanout_program.h"
#include "tests/support/signal_child.h"

namespace omx::link {
namespace {

using fanout_group = FanoutTest;

TEST_F(fanout_group, many_endpoints__one_hook_and_each_its_frames) {
  auto a = open("v0");
  std::vector<std::unique_ptr<Transport>> links;
  std::map<unsigned, Transport*> all;
  for (const unsigned e : {0U, 3U, 7U, 200U, 255U, 128U, 31U, 30U, 29U, 1U}) {
    links.push_back(open("v1", shared(e)));
    all[e] = links.back().get();
  }
  EXPECT_EQ(hooks_of(all), 1U);
  for (int round = 0; round < 100; round++) ASSERT_NO_FATAL_FAILURE(expect_own_frames(*a, all));
}

// All processes start as founders, as far as each of them knows.
TEST_F(fanout_group, crowd__many_processes_at_once_find_one_group) {
  auto a = open("v0");
  constexpr unsigned kCrowd = 32;
  int go[2], ready[2], end[2];
  ASSERT_EQ(::pipe(go) | ::pipe(ready) | ::pipe(end), 0);
  std::vector<pid_t> crowd;
  for (unsigned e = 0; e < kCrowd; e++) {
    crowd.push_back(::fork());
    if (crowd.back() != 0) continue;
    ::alarm(120);
    ::close(go[1]);
    ::close(end[1]);
    char byte;
    [[maybe_unused]] const ssize_t begun = ::read(go[0], &byte, 1);
    PacketLinkOptions options = shared(100 + e);
    options.interface = "v1";
    auto link = packet_link_open(options);
    const std::uint32_t group = link ? group_of(**link) : 0;
    if (::write(ready[1], &group, sizeof group) != sizeof group) ::_exit(1);
    Collector got;
    const bool came = link && receive_until(**link, got, 1);
    [[maybe_unused]] const ssize_t ended = ::read(end[0], &byte, 1);
    ::_exit(came && got.frames.size() == 1 && (*link)->counters().frames_misdirected == 0 ? 0 : 2);
  }
  ::close(go[1]);
  std::set<std::uint32_t> groups;
  for (unsigned e = 0; e < kCrowd; e++) {
    std::uint32_t group = 0;
    ASSERT_EQ(::read(ready[0], &group, sizeof group), static_cast<ssize_t>(sizeof group));
    groups.insert(group);
  }
  EXPECT_EQ(groups.size(), 1U);
  EXPECT_FALSE(groups.contains(0));
  const NicId to = nic_of("v1");
  for (unsigned e = 0; e < kCrowd; e++)
    frame_send(*a, make_frame(to, a->interface().nic(), 100, kMedium, static_cast<std::uint8_t>(100 + e)));
  ::poll(nullptr, 0, 100);
  ::close(end[1]);
  for (const pid_t pid : crowd) {
    int status = -1;
    ::waitpid(pid, &status, 0);
    EXPECT_EQ(WIFEXITED(status) ? WEXITSTATUS(status) : -1, 0);
  }
}

TEST_F(fanout_group, hooks_of_their_own_beside__each_its_frames) {
  auto a = open("v0");
  auto first = open("v1", shared(1));
  PacketLinkOptions own;
  own.endpoint = 2;
  auto second = open("v1", own);
  auto third = open("v1", shared(3));
  EXPECT_EQ(group_of(*second), 0U);
  EXPECT_EQ(group_of(*third), group_of(*first));
  expect_own_frames(*a, {{1, first.get()}, {2, second.get()}, {3, third.get()}});
}

TEST_F(fanout_group, licence__the_first_have_hooks_of_their_own) {
  auto a = open("v0");
  std::vector<std::unique_ptr<Transport>> links;
  std::map<unsigned, Transport*> all;
  for (unsigned e = 0; e < 6; e++) {
    PacketLinkOptions options = shared(e);
    options.own_sockets = 4;
    links.push_back(open("v1", options));
    all[e] = links.back().get();
  }
  EXPECT_EQ(hooks_of(all), 5U);
  expect_own_frames(*a, all);
  all.erase(0);
  links[0].reset();  // its licence is free
  PacketLinkOptions options = shared(9);
  options.own_sockets = 4;
  links[0] = open("v1", options);
  all[9] = links[0].get();
  EXPECT_EQ(hooks_of(all), 5U);
  expect_own_frames(*a, all);
}

TEST_F(fanout_group, close__the_member_goes_to_the_next) {
  auto a = open("v0");
  auto stays = open("v1", shared(1));
  auto goes = open("v1", shared(2));
  auto last = open("v1", shared(3));
  std::map<unsigned, Transport*> all = {{1, stays.get()}, {3, last.get()}};
  const int sockets = packet_sockets();
  Collector drained;
  for (unsigned round = 0; round < 8; round++) {
    // The ring is used up to some slot, and some frames are left unread in it.
    for (unsigned i = 0; i < 7 * round + 3; i++) {
      frame_send(*a, make_frame(goes->interface().nic(), a->interface().nic(), 100, kMedium,
                                static_cast<std::uint8_t>(2 + 10 * round)));
      ASSERT_TRUE(becomes_true([&] { return goes->pending(); }));
      if (i < 5 * round) goes->receive(drained, 1);
    }
    goes.reset();
    expect_own_frames(*a, all);
    goes = open("v1", shared(2 + 10 * (round + 1)));
    EXPECT_EQ(packet_sockets(), sockets) << "a new one was made";
    EXPECT_FALSE(goes->pending()) << "a frame of the former holder";
    all[2 + 10 * (round + 1)] = goes.get();
    for (int i = 0; i < 70; i++)
      ASSERT_NO_FATAL_FAILURE(expect_own_frames(*a, all));  // through the whole ring
    all.erase(2 + 10 * (round + 1));
  }
}

TEST_F(fanout_group, killed__others_go_on_and_the_member_is_taken) {
  auto a = open("v0");
  auto before = open("v1", shared(1));
  auto dies = std::make_unique<Neighbour>(10, 3);
  auto after = open("v1", shared(2));
  std::map<unsigned, Transport*> all = {{1, before.get()}, {2, after.get()}};
  expect_own_frames(*a, all);
  dies->end(SIGKILL);
  expect_own_frames(*a, all);
  auto heir = open("v1", shared(11));
  all[11] = heir.get();
  expect_own_frames(*a, all);
  EXPECT_EQ(hooks_of(all), 1U);
}

TEST_F(fanout_group, founder_killed__the_group_lives_and_takes_newcomers) {
  auto a = open("v0");
  auto founder = std::make_unique<Neighbour>(10, 2);
  auto before = open("v1", shared(1));
  founder->end(SIGKILL);
  Neighbour other(20, 2);
  auto after = open("v1", shared(2));
  const std::map<unsigned, Transport*> all = {{1, before.get()}, {2, after.get()}};
  expect_own_frames(*a, all);
  EXPECT_EQ(hooks_of(all), 1U);
}

TEST_F(fanout_group, all_killed__nothing_is_left) {
  {
    Neighbour first(10, 4);
    Neighbour second(20, 4);
  }
  EXPECT_EQ(packet_sockets(), 0);
  std::ifstream names("/proc/net/unix");
  const std::string text{std::istreambuf_iterator<char>(names), {}};
  EXPECT_EQ(text.find("@omx/"), std::string::npos) << text;
  auto a = open("v0");
  auto again = open("v1", shared(10));
  expect_own_frames(*a, {{10, again.get()}});
}

TEST_F(fanout_group, all_stopped__a_newcomer_needs_none_of_them) {
  auto a = open("v0");
  Neighbour stopped(10, 2);
  stopped.stop();
  auto link = open("v1", shared(1));
  expect_own_frames(*a, {{1, link.get()}});
  EXPECT_NE(group_of(*link), 0U) << "the first that is not theirs";
  stopped.go_on();
  expect_own_frames(*a, {{1, link.get()}});
}

TEST_F(fanout_group, interface_down__a_hook_of_its_own) {
  auto a = open("v0");
  auto first = open("v1", shared(1));
  ip("link set v1 down");
  auto second = open("v1", shared(2));
  EXPECT_EQ(group_of(*second), 0U);
  set_mtu(1500);
  ASSERT_TRUE(becomes_true([&] { return first->interface().refresh() && second->interface().refresh(); }));
  expect_own_frames(*a, {{1, first.get()}, {2, second.get()}});
}

TEST_F(fanout_group, one_stopped__others_let_newcomers_in) {
  auto a = open("v0");
  Neighbour stopped(10, 2), awake(20, 2);
  auto before = open("v1", shared(2));
  const std::uint32_t group = group_of(*before);
  before.reset();
  stopped.stop();
  auto link = open("v1", shared(1));
  EXPECT_EQ(group_of(*link), group);
  expect_own_frames(*a, {{1, link.get()}});
}

TEST_F(fanout_group, interface_down_and_up__indexes_stay) {
  auto a = open("v0");
  auto first = open("v1", shared(1));
  auto dies = std::make_unique<Neighbour>(10, 3);
  auto second = open("v1", shared(2));
  auto third = open("v1", shared(3));
  dies->end(SIGKILL);
  auto heir = open("v1", shared(12));
  std::map<unsigned, Transport*> all = {
      {1, first.get()}, {2, second.get()}, {3, third.get()}, {12, heir.get()}};
  for (int round = 0; round < 3; round++) {
    ip("link set v1 down");
    set_mtu(1500);
    for (const auto& [endpoint, link] : all)
      ASSERT_TRUE(becomes_true([&, l = link] { return l->interface().refresh(); }));
    expect_own_frames(*a, all);
  }
  EXPECT_EQ(hooks_of(all), 1U);
}

TEST_F(fanout_group, larger_mtu__a_hook_of_its_own_and_the_others_stay) {
  auto a = open("v0");
  auto first = open("v1", shared(1));
  auto second = open("v1", shared(2));
  auto third = open("v1", shared(3));
  set_mtu(9000);
  ASSERT_TRUE(a->interface().refresh());
  ASSERT_TRUE(second->interface().refresh());
  EXPECT_EQ(group_of(*second), 0U);
  EXPECT_EQ(group_of(*first), group_of(*third));
  expect_own_frames(*a, {{1, first.get()}, {2, second.get()}, {3, third.get()}});
  const Bytes large = make_frame(second->interface().nic(), a->interface().nic(), 9014, kMedium, 2);
  frame_send(*a, large);
  Collector got;
  ASSERT_TRUE(receive_until(*second, got, 1));
  EXPECT_EQ(got.frames[0], large);
}

TEST_F(fanout_group, misdirected_for_long__all_leave) {
  auto a = open("v0");
  auto first = open("v1", shared(1));
  auto second = open("v1", shared(2));
  // Another process made the group's program send everything to the second member.
  const FilterProgram wrong = {BPF_STMT(BPF_RET | BPF_K, 2)};
  ASSERT_EQ(fanout_program_load(second->descriptor(), wrong), 0);
  Collector nobody;
  for (int look = 0; look < 3; look++) {
    frame_send(*a, make_frame(first->interface().nic(), a->interface().nic(), 100, kMedium, 1));
    ASSERT_TRUE(becomes_true([&] { return second->pending(); }));
    second->receive(nobody, 10);
    EXPECT_EQ(second->counters().frames_misdirected, static_cast<std::uint64_t>(look + 1));
    second->interface().refresh();
    first->interface().refresh();
  }
  EXPECT_TRUE(nobody.frames.empty());
  Collector got;
  frame_send(*a, make_frame(first->interface().nic(), a->interface().nic(), 100, kMedium, 1));
  EXPECT_TRUE(receive_until(*first, got, 1));
  frame_send(*a, make_frame(first->interface().nic(), a->interface().nic(), 100, kMedium, 2));
  EXPECT_TRUE(receive_until(*second, got, 2));
  EXPECT_EQ(group_of(*first), 0U);
  EXPECT_EQ(group_of(*second), 0U);
}

TEST_F(fanout_group, board__names_are_heard_while_one_of_its_listeners_is_stopped) {
  auto a = open("v0");
  Neighbour stopped(10, 1);
  auto link = open("v1", shared(1));
  stopped.stop();
  Collector got;
  for (int i = 0; i < 100 && got.frames.empty(); i++) {
    frame_send(*a, make_frame(kBroadcastNic, a->interface().nic(), 64, 3));
    ::poll(nullptr, 0, 1);
    link->receive(got, 10);
  }
  EXPECT_FALSE(got.frames.empty());
}

// Processes get kill -9 at any instant, also while they join.
TEST_F(fanout_group, storm__processes_come_and_die_while_frames_pass) {
  const unsigned seed = std::random_device()();
  std::mt19937 random(seed);
  SCOPED_TRACE(fmt::format("seed {}", seed));
  auto a = open("v0");
  auto first = open("v1", shared(1));
  std::vector<pid_t> running;
  const auto begin = [&] {
    const unsigned at = 10 + 8 * static_cast<unsigned>(running.size()), count = 1 + random() % 6;
    const pid_t pid = ::fork();
    if (pid != 0) return pid;
    std::vector<std::unique_ptr<Transport>> links;
    for (unsigned e = at;; e = e + 1 < at + count ? e + 1 : at) {
      if (links.size() == count) links.erase(links.begin());
      PacketLinkOptions options = shared(e);
      options.interface = "v1";
      if (auto link = packet_link_open(options)) {
        (*link)->wakeup()->open();
        links.push_back(std::move(*link));
      }
    }
  };
  for (int i = 0; i < 4; i++) running.push_back(begin());
  auto second = open("v1", shared(2));
  for (int round = 0; round < 60; round++) {
    const std::size_t victim = random() % running.size();
    ::poll(nullptr, 0, static_cast<int>(random() % 40));
    signal_child(running[victim], SIGKILL);
    ::waitpid(running[victim], nullptr, 0);
    running.erase(running.begin() + static_cast<std::ptrdiff_t>(victim));
    expect_own_frames(*a, {{1, first.get()}, {2, second.get()}});
    if (testing::Test::HasFailure()) break;
    running.push_back(begin());
    if (round % 20 == 19) {
      second.reset();
      second = open("v1", shared(2));
    }
  }
  for (const pid_t pid : running) {
    signal_child(pid, SIGKILL);
    ::waitpid(pid, nullptr, 0);
  }
  auto third = open("v1", shared(3));
  expect_own_frames(*a, {{1, first.get()}, {2, second.get()}, {3, third.get()}});
  EXPECT_NE(group_of(*third), 0U);
}

}  // namespace
}  // namespace omx::link
