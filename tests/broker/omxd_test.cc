// SPDX-License-Identifier: BSD-3-Clause
// The broker from the outside: what users get, and what is left when they, their processes or it go.
#include <fcntl.h>
#include <net/if.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstring>
#include <random>

#include "omxd_fixture.h"
#include "tests/support/child.h"
#include "tools/broker/kernel/egress_hook.h"
#include "tools/broker/kernel/macvlan.h"

namespace omx::broker {

namespace {

using link::becomes_true;
using runtime::Child;

// Becomes a user without rights in a child of the test.
bool become(uid_t uid) {
  return ::setgid(uid) == 0 && ::setuid(uid) == 0;
}

// A user's process with an endpoint on each board, which does what it is told.
class Job {
 public:
  // Sends a frame from one endpoint to the other; asks for the bulk socket; looks whether the sender's grant
  // was withdrawn.
  static constexpr char kFrame = 'f', kBulk = 'b', kWithdrawn = 'w';

  Job(const OmxdTest& test, uid_t uid) {
    int to[2], from[2];
    EXPECT_EQ(::pipe2(to, O_CLOEXEC), 0);
    EXPECT_EQ(::pipe2(from, O_CLOEXEC), 0);
    pid_ = ::fork();
    if (pid_ == 0) {
      ::close(to[1]);
      ::close(from[0]);
      serve(test, uid, to[0], from[1]);
      ::_exit(0);
    }
    ::close(to[0]);
    ::close(from[1]);
    to_ = OwnFd(to[1]);
    from_ = OwnFd(from[0]);
    EXPECT_TRUE(answer()) << test.log();
  }
  ~Job() { end(); }
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;

  bool ask(char what) {
    EXPECT_EQ(::write(to_.get(), &what, 1), 1);
    return answer();
  }
  void end() {
    to_.reset();
    if (pid_ > 0) ::waitpid(std::exchange(pid_, -1), nullptr, 0);
  }

 private:
  bool answer() {
    char byte = 0;
    return ::read(from_.get(), &byte, 1) == 1 && byte == '+';
  }
  static void serve(const OmxdTest& test, uid_t uid, int in, int out) {
    std::string why;
    auto here = become(uid) ? test.link_open("v0", 3, &why) : nullptr;
    auto there = here ? test.link_open("v1", 4, &why) : nullptr;
    const auto tell = [out](bool good) { return ::write(out, good ? "+" : "-", 1) == 1; };
    tell(here && there);
    for (char what = 0; here && there && ::read(in, &what, 1) == 1;) {
      if (what == kFrame) {
        tell(frame_passes(*here, 3, *there, 4));
        continue;
      }
      if (what == kWithdrawn) {
        here->interface().refresh();
        tell(here->interface().outage() == link::Outage::withdrawn);
        continue;
      }
      there->bulk_path()->close();  // a path that was refused is tried again
      tell(there->bulk_path()->expect());
    }
  }

  pid_t pid_ = -1;
  OwnFd to_, from_;
};

TEST_F(OmxdTest, grant__a_user_without_rights_sends_and_receives_frames) {
  start();
  as_user(kAlice, [&] {
    auto here = link_open("v0", 3);
    auto there = link_open("v1", 4);
    ASSERT_TRUE(here && there);
    EXPECT_EQ(here->interface().nic(), board_mac(link::nic_of("v0")));
    EXPECT_TRUE(frame_passes(*here, 3, *there, 4));
    EXPECT_TRUE(frame_passes(*there, 4, *here, 3));
  });
  EXPECT_TRUE(becomes_true([&] { return grants_in_kernel() == 0; }));
}

TEST_F(OmxdTest, grant__another_source_endpoint_does_not_get_out) {
  start();
  as_user(kAlice, [&] {
    auto here = link_open("v0", 3);
    auto there = link_open("v1", 4);
    ASSERT_TRUE(here && there);
    EXPECT_FALSE(frame_passes(*here, 5, *there, 4));
    EXPECT_TRUE(frame_passes(*here, 3, *there, 4));
  });
  EXPECT_TRUE(becomes_true([&] { return log_says("1 frames sent, ") && !log_says("1 frames sent, 0 not"); }))
      << log();
}

TEST_F(OmxdTest, grant__bulk_and_wakeup_sockets_take_what_is_chosen) {
  start();
  as_user(kAlice, [&] {
    auto here = link_open("v0", 3);
    auto there = link_open("v1", 4);
    ASSERT_TRUE(here && there);
    EXPECT_TRUE(there->wakeup()->open());
    ASSERT_TRUE(there->bulk_path()->expect());
    // A pull reply goes to the bulk socket now, and everything else to the ring.
    EXPECT_TRUE(frame_passes(*here, 3, *there, 4));
    EXPECT_GE(there->bulk_path()->descriptor(), 0);
    EXPECT_TRUE(there->bulk_path()->forgo());
    EXPECT_TRUE(frame_passes(*here, 3, *there, 4));
  });
}

TEST_F(OmxdTest, grant__an_endpoint_is_one_users_at_a_time) {
  start();
  Child alice([&] { return become(kAlice) && new std::unique_ptr(link_open("v0", 3)) != nullptr; });
  ASSERT_TRUE(alice.ok());
  as_user(kBob, [&] {
    std::string why;
    EXPECT_EQ(link_open("v0", 3, &why), nullptr);
    EXPECT_NE(why.find("endpoint 3 of v0 is held by process"), std::string::npos) << why;
    EXPECT_NE(link_open("v0", 2, &why), nullptr) << why;
    EXPECT_NE(link_open("v1", 3, &why), nullptr) << why;
  });
  alice.kill();
  EXPECT_TRUE(becomes_true([&] { return grants_in_kernel() == 0; }));
  as_user(kBob, [&] { EXPECT_NE(link_open("v0", 3), nullptr); });
}

TEST_F(OmxdTest, policy__a_user_who_is_not_named_gets_a_sentence) {
  start("groups =\nusers = root\nboards = v0\n");
  as_user(kAlice, [&] {
    const auto offers = boards_offered(socket());
    if (offers) {
      ADD_FAILURE() << "Alice is offered boards";
      return;
    }
    EXPECT_NE(offers.error().message.find("60001"), std::string::npos) << offers.error().message;
  });
}

TEST_F(OmxdTest, policy__quota_of_endpoints_and_memory) {
  start("users = *\nboards = v0\nendpoints = 2\nmemory = 64M\n");
  as_user(kAlice, [&] {
    std::string why;
    auto first = link_open("v0", 1);
    auto second = link_open("v0", 2);
    EXPECT_EQ(link_open("v0", 3, &why), nullptr);
    EXPECT_NE(why.find("holds 2 of 2 endpoints"), std::string::npos) << why;
    first.reset();
    EXPECT_TRUE(becomes_true([&] { return link_open("v0", 3, &why) != nullptr; })) << why;
    second.reset();
    EndpointWish large = wish("v0", 4);
    large.ring_bytes = 64U << 20;
    large.ring_frames = 65536;
    GrantedEndpoint endpoint(large);
    const auto data = endpoint.data();
    ASSERT_FALSE(data);
    EXPECT_NE(data.error().message.find("for rings"), std::string::npos) << data.error().message;
  });
}

// A user may keep descriptors when the connection ends, or when the policy changes.
TEST_F(OmxdTest, revoked__kept_descriptors_are_silent) {
  start();
  as_user(kAlice, [&] {
    auto there = link_open("v1", 4);
    int kept = -1;
    {
      auto here = link_open("v0", 3);
      ASSERT_TRUE(here && there);
      EXPECT_TRUE(frame_passes(*here, 3, *there, 4));
      kept = ::dup(here->descriptor());
    }
    EXPECT_TRUE(becomes_true([&] { return log_says("endpoint 3 of v0: closed"); }));
    link::Bytes frame = link::make_frame(there->interface().nic(), board_mac(link::nic_of("v0")), 64, 38, 4);
    frame[18] = std::byte{3};
    EXPECT_LT(::send(kept, frame.data(), frame.size(), 0), 0);
    link::Collector collector;
    ::poll(nullptr, 0, 20);
    there->receive(collector, 16);
    EXPECT_TRUE(collector.frames.empty());
    // The endpoint is free for others, and the kept descriptor hears nothing of them.
    auto again = link_open("v0", 3);
    ASSERT_TRUE(again);
    EXPECT_TRUE(frame_passes(*there, 4, *again, 3));
    EXPECT_TRUE(frame_passes(*again, 3, *there, 4));
  });
}

TEST_F(OmxdTest, revoked__policy_that_is_read_again) {
  start();
  Job job(*this, kAlice);
  ASSERT_TRUE(job.ask(Job::kFrame));
  policy_write("users = root\ngroups =\nboards = v0,v1\n");
  signal(SIGHUP);
  EXPECT_TRUE(becomes_true([&] { return log_says("the policy allows it no more"); })) << log();
  EXPECT_TRUE(becomes_true([&] { return grants_in_kernel() == 0; }));
  EXPECT_FALSE(job.ask(Job::kFrame));
  EXPECT_TRUE(becomes_true([&] { return job.ask(Job::kWithdrawn); })) << "the program is told";
}

TEST_F(OmxdTest, policy__a_bad_file_changes_nothing) {
  start();
  Job job(*this, kAlice);
  policy_write("users = \nnonsense\n");
  signal(SIGHUP);
  EXPECT_TRUE(becomes_true([&] { return log_says("the former policy stays in force"); })) << log();
  EXPECT_TRUE(job.ask(Job::kFrame));
}

TEST_F(OmxdTest, life__jobs_survive_the_brokers_death_and_the_next_one_takes_them_up) {
  start();
  Job job(*this, kAlice);
  ASSERT_TRUE(job.ask(Job::kFrame));
  EXPECT_EQ(end(SIGKILL), -SIGKILL);
  EXPECT_TRUE(job.ask(Job::kFrame)) << "without a broker";
  EXPECT_FALSE(job.ask(Job::kWithdrawn));
  EXPECT_FALSE(job.ask(Job::kBulk)) << "without a broker there is no further socket";
  start();
  EXPECT_TRUE(log_says("2 open endpoints are taken up")) << log();
  EXPECT_TRUE(job.ask(Job::kFrame)) << "with the next broker";
  as_user(kBob, [&] {
    std::string why;
    EXPECT_EQ(link_open("v0", 3, &why), nullptr);
    EXPECT_NE(why.find("held by process"), std::string::npos) << why;
  });
  EXPECT_TRUE(becomes_true([&] { return job.ask(Job::kBulk); })) << "the grant is taken up again";
  EXPECT_TRUE(job.ask(Job::kFrame));
  job.end();
  EXPECT_TRUE(becomes_true([&] { return grants_in_kernel() == 0; })) << log();
}

TEST_F(OmxdTest, life__an_end_leaves_open_endpoints_alone) {
  start();
  Job job(*this, kAlice);
  EXPECT_EQ(end(SIGTERM), 0);
  EXPECT_TRUE(log_says("2 endpoints are open")) << log();
  EXPECT_TRUE(job.ask(Job::kFrame));
  EXPECT_TRUE(maps_of("v0")) << "what confines the endpoints stays";
  start();
  // The process of a grant that no connection holds is watched.
  job.end();
  EXPECT_TRUE(becomes_true([&] { return grants_in_kernel() == 0; })) << log();
}

TEST_F(OmxdTest, life__the_nic_changes_and_comes_back) {
  start();
  const NicId v0 = link::nic_of("v0"), v1 = link::nic_of("v1");
  link::ip("link set v0 mtu 4000");
  link::ip("link set v1 mtu 4000");
  as_user(kAlice, [&] {
    std::string why;
    EXPECT_TRUE(becomes_true([&] {
      auto here = link_open("v0", 3, &why);
      return here && here->interface().mtu() == 4000;
    })) << why;
  });
  link::ip("link delete v0");
  EXPECT_TRUE(becomes_true([&] { return log_says("v0 is gone"); }));
  as_user(kAlice, [&] {
    std::string why;
    EXPECT_EQ(link_open("v0", 3, &why), nullptr);
    EXPECT_NE(why.find("v0 is gone"), std::string::npos) << why;
  });
  link::ip(fmt::format("link add v0 address {} type veth peer name v1 address {}", mac_format(v0),
                       mac_format(v1)));
  set_mtu(1500);
  EXPECT_TRUE(becomes_true([&] { return log_says("v0 is back") && log_says("v1 is back"); })) << log();
  as_user(kAlice, [&] {
    auto here = link_open("v0", 3);
    auto there = link_open("v1", 4);
    ASSERT_TRUE(here && there);
    EXPECT_TRUE(frame_passes(*here, 3, *there, 4));
  });
}

// 1,000 endpoints are opened and closed by 8 processes of 3 users. Some processes are killed.
TEST_F(OmxdTest, churn__nothing_is_left) {
  start("users = *\nboards = v0,v1\nconnections = 1000\nendpoints = 256\n");
  const std::size_t before = broker_descriptors(), maps_before = broker_maps();
  std::vector<pid_t> users;
  int times[2];
  ASSERT_EQ(::pipe(times), 0);
  for (unsigned i = 0; i < 8; i++) {
    const pid_t user = ::fork();
    if (user == 0) {
      if (!become(kAlice + i % 3)) ::_exit(2);
      std::vector<std::unique_ptr<link::Transport>> open;
      for (unsigned n = 0; n < 125; n++) {
        std::string why;
        const auto from = std::chrono::steady_clock::now();
        auto link = link_open(n % 2 ? "v0" : "v1", static_cast<std::uint8_t>(i * 32 + n % 32), &why);
        const double us =
            std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - from).count();
        if (::write(times[1], &us, sizeof us) != sizeof us) ::_exit(3);
        if (!link) ::_exit(4);
        open.push_back(std::move(link));
        if (n % 7 == 6) open.clear();
        if (i % 4 == 3 && n == 100) ::kill(::getpid(), SIGKILL);
      }
      ::_exit(0);
    }
    users.push_back(user);
  }
  ::close(times[1]);
  std::vector<double> took;
  for (double us = 0; ::read(times[0], &us, sizeof us) == sizeof us;) took.push_back(us);
  for (unsigned i = 0; i < users.size(); i++) {
    int status = 0;
    ::waitpid(users[i], &status, 0);
    if (i % 4 == 3)
      EXPECT_TRUE(WIFSIGNALED(status));
    else
      EXPECT_EQ(status, 0) << log();
  }
  EXPECT_GE(took.size(), 900U);
  std::sort(took.begin(), took.end());
  std::printf("opening by the broker: median %.0f us, p99 %.0f us of %zu\n", took[took.size() / 2],
              took[took.size() * 99 / 100], took.size());
  EXPECT_TRUE(becomes_true([&] { return grants_in_kernel() == 0 && broker_descriptors() == before; }))
      << log();
  EXPECT_LE(broker_maps(), maps_before + 3 * 256U) << "maps are used again";
}

// A process asks the next broker for what the former one could not give any more.
TEST_F(OmxdTest, life__a_wakeup_socket_comes_from_the_next_broker) {
  start();
  const auto link = link_open("v0", 3);
  ASSERT_TRUE(link && link->wakeup());
  EXPECT_EQ(end(SIGKILL), -SIGKILL);
  EXPECT_FALSE(link->wakeup()->open());
  start();
  EXPECT_TRUE(becomes_true([&] { return link->wakeup()->open(); })) << log();
}

TEST_F(OmxdTest, life__nothing_is_left_after_its_end) {
  start();
  EXPECT_TRUE(network_mounted("v0"));
  EXPECT_TRUE(maps_of("v0"));
  EXPECT_EQ(end(SIGTERM), 0) << log();
  EXPECT_FALSE(network_mounted("v0"));
  EXPECT_FALSE(maps_of("v0"));
  EXPECT_NE(::access(socket().c_str(), F_OK), 0);
}

TEST_F(OmxdTest, life__clean_removes_what_a_killed_broker_left) {
  start();
  EXPECT_EQ(end(SIGKILL), -SIGKILL);
  EXPECT_TRUE(network_mounted("v0"));
  EXPECT_EQ(run_once("--clean"), 0) << log();
  EXPECT_FALSE(network_mounted("v0"));
  EXPECT_FALSE(maps_of("v0"));
  EXPECT_FALSE(maps_of("v1"));
}

}  // namespace

}  // namespace omx::broker
