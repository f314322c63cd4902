// SPDX-License-Identifier: BSD-3-Clause
// Endpoints that share a hook, in processes that come, go, are stopped and killed.
#include "link/hook_group.h"

#include <fmt/format.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <map>
#include <random>
#include <set>

#include "link/hook_names.h"
#include "link/hook_program.h"
#include "link/hook_share.h"
#include "test_network.h"

namespace omx::link {
namespace {

constexpr std::uint8_t kMedium = 39;

// The group that its socket belongs to; 0: it has a hook of its own.
std::uint32_t group_of(const Link& link) {
  std::uint32_t group = 0;
  socklen_t size = sizeof group;
  EXPECT_EQ(::getsockopt(link.descriptor(), SOL_PACKET, PACKET_FANOUT, &group, &size), 0);
  return group;
}

// What each frame is offered to, of these.
std::size_t hooks_of(const std::map<unsigned, Link*>& links) {
  std::set<std::uint32_t> groups;
  std::size_t own = 0;
  for (const auto& [endpoint, link] : links) {
    if (const std::uint32_t group = group_of(*link))
      groups.insert(group);
    else
      own++;
  }
  return own + groups.size();
}

// All sockets of this network that take our frames.
int packet_sockets() {
  std::ifstream table("/proc/net/packet");
  int count = 0;
  for (std::string line; std::getline(table, line);) count += line.find(" 86df ") != std::string::npos;
  return count;
}

PacketLinkOptions shared(unsigned endpoint) {
  PacketLinkOptions options;
  options.endpoint = static_cast<std::uint8_t>(endpoint);
  options.ring_frames = 64;
  options.own_hooks = 0;
  return options;
}

// Another process, with the endpoints [first, first + count) of v1.
class Neighbour {
 public:
  Neighbour(unsigned first, unsigned count) {
    int ready[2];
    EXPECT_EQ(::pipe(ready), 0);
    pid_ = ::fork();
    if (pid_ == 0) live(first, count, ready[1]);
    ::close(ready[1]);
    char byte = 0;
    EXPECT_EQ(::read(ready[0], &byte, 1), 1) << "it could not open its endpoints";
    ::close(ready[0]);
  }
  Neighbour(const Neighbour&) = delete;
  Neighbour& operator=(const Neighbour&) = delete;
  ~Neighbour() { end(SIGKILL); }

  void stop() {
    EXPECT_EQ(::kill(pid_, SIGSTOP), 0);
    EXPECT_EQ(::waitpid(pid_, nullptr, WUNTRACED), pid_);
  }
  void go_on() { EXPECT_EQ(::kill(pid_, SIGCONT), 0); }
  void end(int signal) {
    if (pid_ <= 0) return;
    ::kill(pid_, signal);
    ::waitpid(pid_, nullptr, 0);
    pid_ = 0;
  }

 private:
  [[noreturn]] static void live(unsigned first, unsigned count, int ready) {
    static volatile sig_atomic_t ends = 0;
    struct sigaction action {};
    action.sa_handler = [](int) { ends = 1; };
    ::sigaction(SIGTERM, &action, nullptr);
    {
      std::vector<std::unique_ptr<Link>> links;
      for (unsigned e = first; e < first + count; e++) {
        PacketLinkOptions options = shared(e);
        options.interface = "v1";
        auto link = packet_link_open(options);
        if (!link) ::_exit(1);
        links.push_back(std::move(*link));
      }
      if (::write(ready, "k", 1) != 1) ::_exit(1);
      while (!ends) ::poll(nullptr, 0, 20);
    }
    ::_exit(0);
  }

  pid_t pid_ = 0;
};

class hook_group : public CableTest {
 protected:
  // A frame for each of them, and nothing else, comes.
  void expect_own_frames(Link& from, const std::map<unsigned, Link*>& links) {
    seed_++;
    for (const auto& [endpoint, link] : links)
      frame_send(from, make_frame(link->nic(), from.nic(), 100, kMedium, static_cast<std::uint8_t>(endpoint),
                                  static_cast<std::uint8_t>(seed_)));
    for (const auto& [endpoint, link] : links) {
      Collector got;
      ASSERT_TRUE(receive_until(*link, got, 1)) << "endpoint " << endpoint << ", time " << seed_;
      EXPECT_EQ(got.frames.size(), 1U);
      EXPECT_EQ(got.frames[0],
                make_frame(link->nic(), from.nic(), 100, kMedium, static_cast<std::uint8_t>(endpoint),
                           static_cast<std::uint8_t>(seed_)))
          << "endpoint " << endpoint;
      EXPECT_EQ(link->counters().frames_misdirected, 0U) << "endpoint " << endpoint;
    }
  }

 private:
  unsigned seed_ = 0;
};

TEST_F(hook_group, many_endpoints__one_hook_and_each_its_frames) {
  auto a = open("v0");
  std::vector<std::unique_ptr<Link>> links;
  std::map<unsigned, Link*> all;
  for (const unsigned e : {0U, 3U, 7U, 200U, 255U, 128U, 31U, 30U, 29U, 1U}) {
    links.push_back(open("v1", shared(e)));
    all[e] = links.back().get();
  }
  EXPECT_EQ(hooks_of(all), 1U);
  for (int round = 0; round < 100; round++) ASSERT_NO_FATAL_FAILURE(expect_own_frames(*a, all));
}

TEST_F(hook_group, licence__the_first_have_hooks_of_their_own) {
  auto a = open("v0");
  std::vector<std::unique_ptr<Link>> links;
  std::map<unsigned, Link*> all;
  for (unsigned e = 0; e < 6; e++) {
    PacketLinkOptions options = shared(e);
    options.own_hooks = 4;
    links.push_back(open("v1", options));
    all[e] = links.back().get();
  }
  EXPECT_EQ(hooks_of(all), 5U);
  expect_own_frames(*a, all);
  all.erase(0);
  links[0].reset();  // its licence is free
  PacketLinkOptions options = shared(9);
  options.own_hooks = 4;
  links[0] = open("v1", options);
  all[9] = links[0].get();
  EXPECT_EQ(hooks_of(all), 5U);
  expect_own_frames(*a, all);
}

TEST_F(hook_group, close__the_place_goes_to_the_next) {
  auto a = open("v0");
  auto stays = open("v1", shared(1));
  auto goes = open("v1", shared(2));
  auto last = open("v1", shared(3));
  std::map<unsigned, Link*> all = {{1, stays.get()}, {3, last.get()}};
  const int sockets = packet_sockets();
  Collector drained;
  for (unsigned round = 0; round < 8; round++) {
    // Somewhere in the ring, and some are left unread in it.
    for (unsigned i = 0; i < 7 * round + 3; i++) {
      frame_send(*a,
                 make_frame(goes->nic(), a->nic(), 100, kMedium, static_cast<std::uint8_t>(2 + 10 * round)));
      ASSERT_TRUE(becomes_true([&] { return goes->pending(); }));
      if (i < 5 * round) goes->receive(drained, 1);
    }
    goes.reset();
    expect_own_frames(*a, all);
    goes = open("v1", shared(2 + 10 * (round + 1)));
    EXPECT_EQ(packet_sockets(), sockets) << "a new one was made";
    EXPECT_FALSE(goes->pending()) << "a frame of the former holder";
    all[2 + 10 * (round + 1)] = goes.get();
    for (int i = 0; i < 70; i++) ASSERT_NO_FATAL_FAILURE(expect_own_frames(*a, all));  // round the ring
    all.erase(2 + 10 * (round + 1));
  }
}

TEST_F(hook_group, killed__others_go_on_and_the_place_is_taken) {
  auto a = open("v0");
  auto before = open("v1", shared(1));
  auto dies = std::make_unique<Neighbour>(10, 3);
  auto after = open("v1", shared(2));
  std::map<unsigned, Link*> all = {{1, before.get()}, {2, after.get()}};
  expect_own_frames(*a, all);
  dies->end(SIGKILL);
  expect_own_frames(*a, all);
  auto heir = open("v1", shared(11));
  all[11] = heir.get();
  expect_own_frames(*a, all);
  EXPECT_EQ(hooks_of(all), 1U);
}

TEST_F(hook_group, founder_killed__the_group_lives_and_takes_newcomers) {
  auto a = open("v0");
  auto founder = std::make_unique<Neighbour>(10, 2);
  auto before = open("v1", shared(1));
  founder->end(SIGKILL);
  Neighbour other(20, 2);
  auto after = open("v1", shared(2));
  const std::map<unsigned, Link*> all = {{1, before.get()}, {2, after.get()}};
  expect_own_frames(*a, all);
  EXPECT_EQ(hooks_of(all), 1U);
}

TEST_F(hook_group, all_killed__nothing_is_left) {
  {
    Neighbour first(10, 4);
    Neighbour second(20, 4);
  }
  EXPECT_EQ(packet_sockets(), 0);
  std::ifstream names("/proc/net/unix");
  const std::string text{std::istreambuf_iterator<char>(names), {}};
  EXPECT_EQ(text.find("@omx/"), std::string::npos) << text;
  auto a = open("v0");
  auto anew = open("v1", shared(10));
  expect_own_frames(*a, {{10, anew.get()}});
}

TEST_F(hook_group, all_stopped__a_newcomer_needs_none_of_them) {
  auto a = open("v0");
  Neighbour stopped(10, 2);
  stopped.stop();
  auto link = open("v1", shared(1));
  expect_own_frames(*a, {{1, link.get()}});
  EXPECT_NE(group_of(*link), 0U) << "the first that is not theirs";
  stopped.go_on();
  expect_own_frames(*a, {{1, link.get()}});
}

TEST_F(hook_group, lock_held__who_joins_may_be_stopped) {
  auto a = open("v0");
  auto first = open("v1", shared(1));
  const std::string name = fmt::format("omx/{}/hooks/{}/0/join", ::if_nametoindex("v1"), ::geteuid());
  OwnFd stopped = name_hold(name);
  ASSERT_TRUE(stopped.open());
  auto second = open("v1", shared(2));
  EXPECT_NE(group_of(*second), group_of(*first));
  stopped.reset();
  auto third = open("v1", shared(3));
  EXPECT_EQ(group_of(*third), group_of(*first));
  expect_own_frames(*a, {{1, first.get()}, {2, second.get()}, {3, third.get()}});
}

TEST_F(hook_group, interface_down__a_hook_of_its_own) {
  auto a = open("v0");
  auto first = open("v1", shared(1));
  ip("link set v1 down");
  auto second = open("v1", shared(2));
  EXPECT_EQ(group_of(*second), 0U);
  set_mtu(1500);
  ASSERT_TRUE(becomes_true([&] { return first->refresh() && second->refresh(); }));
  expect_own_frames(*a, {{1, first.get()}, {2, second.get()}});
}

TEST_F(hook_group, one_stopped__others_let_newcomers_in) {
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

TEST_F(hook_group, interface_down_and_up__indexes_stay) {
  auto a = open("v0");
  auto first = open("v1", shared(1));
  auto dies = std::make_unique<Neighbour>(10, 3);
  auto second = open("v1", shared(2));
  auto third = open("v1", shared(3));
  dies->end(SIGKILL);
  auto heir = open("v1", shared(12));
  std::map<unsigned, Link*> all = {{1, first.get()}, {2, second.get()}, {3, third.get()}, {12, heir.get()}};
  for (int round = 0; round < 3; round++) {
    ip("link set v1 down");
    set_mtu(1500);
    for (const auto& [endpoint, link] : all)
      ASSERT_TRUE(becomes_true([&, l = link] { return l->refresh(); }));
    expect_own_frames(*a, all);
  }
  EXPECT_EQ(hooks_of(all), 1U);
}

TEST_F(hook_group, larger_mtu__a_hook_of_its_own_and_the_others_stay) {
  auto a = open("v0");
  auto first = open("v1", shared(1));
  auto second = open("v1", shared(2));
  auto third = open("v1", shared(3));
  set_mtu(9000);
  ASSERT_TRUE(a->refresh());
  ASSERT_TRUE(second->refresh());
  EXPECT_EQ(group_of(*second), 0U);
  EXPECT_EQ(group_of(*first), group_of(*third));
  expect_own_frames(*a, {{1, first.get()}, {2, second.get()}, {3, third.get()}});
  const Bytes large = make_frame(second->nic(), a->nic(), 9014, kMedium, 2);
  frame_send(*a, large);
  Collector got;
  ASSERT_TRUE(receive_until(*second, got, 1));
  EXPECT_EQ(got.frames[0], large);
}

TEST_F(hook_group, misdirected_for_long__all_leave) {
  auto a = open("v0");
  auto first = open("v1", shared(1));
  auto second = open("v1", shared(2));
  // Somebody else's doing: the program of the group sends everything to the second member.
  const FilterProgram wrong = {BPF_STMT(BPF_RET | BPF_K, 2)};
  ASSERT_EQ(hook_program_load(second->descriptor(), wrong), 0);
  Collector nobody;
  for (int look = 0; look < 3; look++) {
    frame_send(*a, make_frame(first->nic(), a->nic(), 100, kMedium, 1));
    ASSERT_TRUE(becomes_true([&] { return second->pending(); }));
    second->receive(nobody, 10);
    EXPECT_EQ(second->counters().frames_misdirected, static_cast<std::uint64_t>(look + 1));
    second->refresh();
    first->refresh();
  }
  EXPECT_TRUE(nobody.frames.empty());
  Collector got;
  frame_send(*a, make_frame(first->nic(), a->nic(), 100, kMedium, 1));
  EXPECT_TRUE(receive_until(*first, got, 1));
  frame_send(*a, make_frame(first->nic(), a->nic(), 100, kMedium, 2));
  EXPECT_TRUE(receive_until(*second, got, 2));
  EXPECT_EQ(group_of(*first), 0U);
  EXPECT_EQ(group_of(*second), 0U);
}

TEST_F(hook_group, board__names_are_heard_while_one_of_its_listeners_is_stopped) {
  auto a = open("v0");
  Neighbour stopped(10, 1);
  auto link = open("v1", shared(1));
  stopped.stop();
  Collector got;
  for (int i = 0; i < 100 && got.frames.empty(); i++) {
    frame_send(*a, make_frame(kBroadcastNic, a->nic(), 64, 3));
    ::poll(nullptr, 0, 1);
    link->receive(got, 10);
  }
  EXPECT_FALSE(got.frames.empty());
}

// kill -9 at any instant, also of those who are joining.
TEST_F(hook_group, storm__processes_come_and_die_while_frames_pass) {
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
    std::vector<std::unique_ptr<Link>> links;
    for (unsigned e = at;; e = e + 1 < at + count ? e + 1 : at) {
      if (links.size() == count) links.erase(links.begin());
      PacketLinkOptions options = shared(e);
      options.interface = "v1";
      if (auto link = packet_link_open(options)) links.push_back(std::move(*link));
    }
  };
  for (int i = 0; i < 4; i++) running.push_back(begin());
  auto second = open("v1", shared(2));
  for (int round = 0; round < 60; round++) {
    const std::size_t victim = random() % running.size();
    ::poll(nullptr, 0, static_cast<int>(random() % 40));
    ::kill(running[victim], SIGKILL);
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
    ::kill(pid, SIGKILL);
    ::waitpid(pid, nullptr, 0);
  }
  auto third = open("v1", shared(3));
  expect_own_frames(*a, {{1, first.get()}, {2, second.get()}, {3, third.get()}});
  EXPECT_NE(group_of(*third), 0U);
}

// Packet sockets are not given to who could not open one: the same user may be without the right.
TEST_F(hook_group, strangers__get_nothing_without_a_packet_socket_of_their_own) {
  const Neighbour member(1, 1);
  const std::string name = fmt::format("omx/{}/hooks/{}/0", ::if_nametoindex("v1"), ::geteuid());
  const auto asks = [&](int shown) {
    const OwnFd connection = name_connect(name);
    EXPECT_TRUE(connection.open());
    EXPECT_TRUE(shown < 0 || right_show(connection.get(), shown));
    return share_receive(connection.get(), 500).whole();
  };
  const OwnFd other(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  const OwnFd packet(::socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0));
  EXPECT_FALSE(asks(-1));
  EXPECT_FALSE(asks(other.get()));
  EXPECT_TRUE(asks(packet.get()));
}

}  // namespace
}  // namespace omx::link
