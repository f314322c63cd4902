// SPDX-License-Identifier: BSD-3-Clause
// Users who try to harm the broker or others by their requests.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstring>
#include <fstream>
#include <random>
#include <set>

#include "broker/connection.h"
#include "hostile_connection.h"
#include "omxd_fixture.h"
#include "tests/support/signal_child.h"
#include "wire/packets.h"

namespace omx::broker {

namespace {

using link::becomes_true;

OwnFd connect_raw(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  OwnFd fd(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
  EXPECT_EQ(::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  return fd;
}

bool closed_by_broker(const OwnFd& fd) {
  return becomes_true([&] {
    char byte;
    const ssize_t got = ::recv(fd.get(), &byte, 1, MSG_DONTWAIT);
    return got == 0 || (got < 0 && errno == ECONNRESET);
  });
}

TEST_F(OmxdTest, hostile__half_open_connections_are_closed) {
  start("users = *\nboards = v0\nrequest_timeout_ms = 100\n");
  const std::size_t before = broker_descriptors();
  as_user(kAlice, [&] {
    std::vector<OwnFd> silent;
    for (int i = 0; i < 50; i++) silent.push_back(connect_raw(socket()));
    for (const OwnFd& fd : silent) EXPECT_TRUE(closed_by_broker(fd));
  });
  EXPECT_TRUE(becomes_true([&] { return broker_descriptors() == before; }));
}

TEST_F(OmxdTest, hostile__a_user_cannot_take_all_connections) {
  start("users = *\nboards = v0\nconnections = 10\n");
  as_user(kAlice, [&] {
    std::vector<OwnFd> many;
    for (int i = 0; i < 200; i++) many.push_back(connect_raw(socket()));
    const auto offers = boards_offered(socket());
    ASSERT_FALSE(offers);
    EXPECT_NE(offers.error().message.find("10 of 10 connections"), std::string::npos)
        << offers.error().message;
  });
  as_user(kBob, [&] { EXPECT_TRUE(boards_offered(socket())); });
}

TEST_F(OmxdTest, hostile__requests_of_any_bytes) {
  start("users = *\nboards = v0,v1\nconnections = 1000\n");
  const std::size_t before = broker_descriptors();
  as_user(kAlice, [&] {
    std::mt19937 random(1);
    for (int i = 0; i < 60; i++) {
      const OwnFd fd = connect_raw(socket());
      Request request = request_of(static_cast<Kind>(random() % 8), random() % 2 ? "v0" : "v1");
      request.endpoint = static_cast<std::uint32_t>(random() % 4 ? random() % 256 : random());
      request.ring_frames = static_cast<std::uint32_t>(random());
      request.ring_bytes = static_cast<std::uint32_t>(random() % 3 ? random() % 100000 : random());
      request.socket = static_cast<std::uint32_t>(random() % 4);
      request.nic = random();
      request.cookie = random();
      auto* const bytes = reinterpret_cast<unsigned char*>(&request);
      for (unsigned damage = random() % 3; damage > 0; damage--)
        bytes[random() % sizeof request] = static_cast<unsigned char>(random());
      const std::size_t length = random() % 8 ? sizeof request : random() % sizeof request;
      ::send(fd.get(), bytes, length, MSG_NOSIGNAL);
      if (random() % 2) {
        pollfd answer{fd.get(), POLLIN, 0};
        ::poll(&answer, 1, 1000);
      }
    }
  });
  as_user(kBob, [&] { EXPECT_TRUE(boards_offered(socket())); });
  EXPECT_TRUE(becomes_true([&] { return broker_descriptors() == before && grants_in_kernel() == 0; }))
      << log();
}

// Sends a request with a descriptor. Returns whether that was possible.
bool send_with(const OwnFd& connection, const Request& request, int descriptor) {
  return packet_send(connection, &request, sizeof request, descriptor);
}

TEST_F(OmxdTest, hostile__descriptors_that_come_with_requests_do_not_hold_the_broker_up) {
  link::ip("link set lo up");
  start();
  const std::size_t before = broker_descriptors();
  const pid_t mallory = ::fork();
  if (mallory == 0) {
    if (::setgid(kAlice) != 0 || ::setuid(kAlice) != 0) ::_exit(2);
    const OwnFd fd = connect_raw(socket());
    SlowSockets sockets(3600);
    {
      const OwnFd slow = sockets.open();
      // The slow one lies behind others, so that it is still there when the connection is closed.
      for (int i = 0; i < 10; i++) send_with(fd, request_of(Kind::boards, ""), 0);
      send_with(fd, request_of(Kind::boards, ""), slow.get());
    }
    ::pause();
    ::_exit(0);
  }
  as_user(kBob, [&] {
    for (int i = 0; i < 100; i++) {
      EXPECT_TRUE(boards_offered(socket()));
      ::poll(nullptr, 0, 2);
    }
  });
  signal_child(mallory, SIGKILL);
  as_user(kBob, [&] { EXPECT_TRUE(boards_offered(socket())); });
  EXPECT_TRUE(becomes_true([&] { return broker_descriptors() <= before + 1; }));
}

Request open_request(std::uint8_t endpoint) {
  Request request = request_of(Kind::open, "v0");
  request.endpoint = endpoint;
  request.ring_frames = 64;
  request.ring_bytes = 1U << 20;
  return request;
}

std::uint64_t cookie_of(const OwnFd& socket) {
  std::uint64_t cookie = 0;
  socklen_t length = sizeof cookie;
  EXPECT_EQ(::getsockopt(socket.get(), SOL_SOCKET, SO_COOKIE, &cookie, &length), 0);
  return cookie;
}

Request attach_request(std::uint8_t endpoint, std::uint64_t cookie) {
  Request request = request_of(Kind::attach, "v0");
  request.endpoint = endpoint;
  request.cookie = cookie;
  return request;
}

// A connection that held two grants would leave one behind, for whoever comes next.
TEST_F(OmxdTest, hostile__a_connection_takes_up_one_grant) {
  start();
  int ready[2], go[2];
  ASSERT_EQ(::pipe2(ready, O_CLOEXEC) | ::pipe2(go, O_CLOEXEC), 0);
  const pid_t mallory = ::fork();
  if (mallory == 0) {
    ::close(go[1]);
    if (::setgid(kAlice) != 0 || ::setuid(kAlice) != 0) ::_exit(2);
    std::vector<Connection> connections;
    std::vector<OwnFd> sockets;
    for (const std::uint8_t endpoint : {3, 4}) {
      connections.push_back(std::move(*Connection::open(socket())));
      auto reply = connections.back().ask(open_request(endpoint));
      if (!reply) ::_exit(3);
      sockets.push_back(std::move(reply->descriptors[0]));
    }
    char byte = 0;
    if (::write(ready[1], "+", 1) != 1 || ::read(go[0], &byte, 1) != 1) ::_exit(4);
    auto connection = Connection::open(socket());
    const bool first = connection && connection->ask(attach_request(3, cookie_of(sockets[0])));
    const bool second = connection && connection->ask(attach_request(4, cookie_of(sockets[1])));
    if (::write(ready[1], first && !second ? "+" : "-", 1) != 1) ::_exit(5);
    ::_exit(0);
  }
  char byte = 0;
  ASSERT_EQ(::read(ready[0], &byte, 1), 1);
  EXPECT_EQ(end(SIGKILL), -SIGKILL);
  start();
  ASSERT_EQ(::write(go[1], "+", 1), 1);
  ASSERT_EQ(::read(ready[0], &byte, 1), 1);
  EXPECT_EQ(byte, '+') << "one grant for each connection";
  ::waitpid(mallory, nullptr, 0);
  EXPECT_TRUE(becomes_true([&] { return grants_in_kernel() == 0; })) << log();
  // The broker's descriptors of those grants are used again, and their next owners are served.
  as_user(kBob, [&] {
    std::vector<Connection> others;
    for (int i = 0; i < 10; i++) {
      others.push_back(std::move(*Connection::open(socket())));
      EXPECT_TRUE(others.back().ask(request_of(Kind::boards, "")));
      const auto beside = others.back().ask(request_of(Kind::socket, "v0"));
      EXPECT_FALSE(beside) << "no grant of another user";
    }
  });
}

TEST_F(OmxdTest, quota__an_endpoint_has_one_socket_of_each_kind) {
  start("users = *\nboards = v0\nmemory = 100M\n");
  as_user(kAlice, [&] {
    auto connection = Connection::open(socket());
    ASSERT_TRUE(connection);
    const auto open = connection->ask(open_request(3));
    ASSERT_TRUE(open) << open.error().message;
    Request bulk = request_of(Kind::socket, "v0"), wakeup = bulk;
    bulk.socket = static_cast<std::uint32_t>(SocketKind::bulk);
    wakeup.socket = static_cast<std::uint32_t>(SocketKind::wakeup);
    {
      const auto first = connection->ask(bulk), second = connection->ask(wakeup);
      EXPECT_TRUE(first) << first.error().message;
      EXPECT_TRUE(second);
      EXPECT_FALSE(connection->ask(bulk));
      EXPECT_FALSE(connection->ask(wakeup));
    }
    // A socket that was closed counts no more, however often it is opened again.
    for (int i = 0; i < 5; i++) {
      const auto again = connection->ask(bulk);
      EXPECT_TRUE(again) << again.error().message;
    }
  });
}

TEST_F(OmxdTest, quota__kept_sockets_count_until_they_are_closed) {
  start("users = *\nboards = v0\nmemory = 100M\n");
  as_user(kAlice, [&] {
    Request bulk = request_of(Kind::socket, "v0");
    bulk.socket = static_cast<std::uint32_t>(SocketKind::bulk);
    std::vector<OwnFd> kept;
    {
      auto connection = Connection::open(socket());
      ASSERT_TRUE(connection && connection->ask(open_request(3)));
      auto beside = connection->ask(bulk);
      ASSERT_TRUE(beside) << beside.error().message;
      kept.push_back(std::move(beside->descriptors[0]));
    }
    EXPECT_TRUE(becomes_true([&] { return log_says("endpoint 3 of v0: closed"); }));
    auto connection = Connection::open(socket());
    ASSERT_TRUE(connection && connection->ask(open_request(3)));
    const auto refused = connection->ask(bulk);
    ASSERT_FALSE(refused);
    EXPECT_NE(refused.error().message.find("for rings"), std::string::npos) << refused.error().message;
    kept.clear();
    EXPECT_TRUE(becomes_true([&] { return connection->ask(bulk).has_value(); }));
  });
}

// A link takes another socket when the MTU grows, while it still has the former one. A third one counts.
TEST_F(OmxdTest, quota__an_endpoint_is_opened_again_at_the_limit) {
  start("users = *\nboards = v0,v1\nendpoints = 2\nmemory = 64M\n");
  as_user(kAlice, [&] {
    auto there = link_open("v1", 4);
    auto connection = Connection::open(socket());
    ASSERT_TRUE(there && connection);
    std::vector<Result<Reply>> held;
    for (int i = 0; i < 4; i++) {
      if (held.size() == 2) {
        const auto third = connection->ask(open_request(3));
        ASSERT_FALSE(third);
        EXPECT_NE(third.error().message.find("2 of 2 endpoints"), std::string::npos) << third.error().message;
        held.erase(held.begin());
      }
      held.push_back(connection->ask(open_request(3)));
      EXPECT_TRUE(held.back()) << held.back().error().message;
    }
    std::string why;
    EXPECT_EQ(link_open("v0", 5, &why), nullptr);
    EXPECT_NE(why.find("2 of 2 endpoints"), std::string::npos) << why;
  });
}

// Returns the number of a BPF map, which is told to its holder only by /proc.
std::string map_number(const OwnFd& map) {
  std::ifstream facts(fmt::format("/proc/self/fdinfo/{}", map.get()));
  for (std::string line; std::getline(facts, line);)
    if (line.starts_with("map_id:")) return line;
  return {};
}

// A process may keep a map mapped, which no quota counts, when its socket is long closed.
TEST_F(OmxdTest, quota__maps_are_used_again) {
  start("users = *\nboards = v0\nendpoints = 2\n");
  as_user(kAlice, [&] {
    std::set<std::string> numbers;
    for (int i = 0; i < 20; i++) {
      auto connection = Connection::open(socket());
      ASSERT_TRUE(connection);
      const auto open = connection->ask(open_request(static_cast<std::uint8_t>(i)));
      ASSERT_TRUE(open) << open.error().message;
      ASSERT_EQ(open->descriptors.size(), 2U);
      const std::string number = map_number(open->descriptors[1]);
      ASSERT_FALSE(number.empty());
      numbers.insert(number);
    }
    EXPECT_LE(numbers.size(), 3U) << "as many as endpoints, and one that is on its way";
  });
}

// Each announcement makes all legacy hosts broadcast for some seconds.
TEST_F(OmxdTest, hostile__the_network_is_asked_to_announce_itself_once_in_a_while) {
  start();
  const OwnFd peer = link::packets_of("v1", wire::kEthertype);
  as_user(kAlice, [&] {
    for (int i = 0; i < 6; i++) {
      auto connection = Connection::open(socket());
      ASSERT_TRUE(connection);
      Request question = request_of(Kind::ask, "v0");
      question.nic = 0x020000000001 + static_cast<NicId>(i);
      for (int twice = 0; twice < 2; twice++) EXPECT_TRUE(connection->send(question));
      EXPECT_TRUE(connection->ask(request_of(Kind::boards, "")));
    }
  });
  std::size_t questions = 0, announcements = 0;
  EXPECT_TRUE(becomes_true([&] {
    std::array<std::byte, 2048> packet;
    while (::recv(peer.get(), packet.data(), packet.size(), MSG_DONTWAIT) > 2) {
      const auto type = static_cast<wire::PacketType>(packet[2]);
      if (type == wire::PacketType::host_query) questions++;
      if (type == wire::PacketType::raw) announcements++;
    }
    return questions >= 12;
  })) << questions;
  EXPECT_EQ(announcements, 1U);
}

TEST_F(OmxdTest, policy__that_is_read_again_sets_the_rights_of_the_socket_and_the_sum_of_memory) {
  const auto mode = [&] {
    struct stat file {};
    EXPECT_EQ(::stat(socket().c_str(), &file), 0);
    return file.st_mode & 0777;
  };
  start("boards = v0\n");
  EXPECT_EQ(mode(), 0660U);
  policy_write("users = *\nboards = v0\nmemory_total = 1M\n");
  signal(SIGHUP);
  EXPECT_TRUE(becomes_true([&] { return log_says("the policy was read again"); })) << log();
  EXPECT_EQ(mode(), 0666U);
  as_user(kAlice, [&] {
    std::string why;
    EXPECT_EQ(link_open("v0", 3, &why), nullptr);
    EXPECT_NE(why.find("all users of the broker together"), std::string::npos) << why;
  });
}

// Sends frames at once. Returns how many the other end takes.
std::size_t frames_through(link::Transport& from, link::Transport& to, std::size_t count) {
  link::Bytes frame = link::make_frame(to.interface().nic(), from.interface().nic(), 1000, 38, 4);
  frame[18] = std::byte{3};
  link::Collector collector;
  for (std::size_t i = 0; i < count; i++) {
    ::send(from.descriptor(), frame.data(), frame.size(), 0);
    to.receive(collector, 64);
  }
  ::poll(nullptr, 0, 20);
  to.receive(collector, count);
  return collector.frames.size();
}

constexpr const char* kLimited = "users = *\nboards = v0,v1\nuser 60001 rate = 1M\nuser 60002 rate = 100G\n";
constexpr std::size_t kFrames = 60;

// A process of Alice that has two endpoints, and sends frames from one to the other when it is told to.
class Sender {
 public:
  explicit Sender(const OmxdTest& test) {
    EXPECT_EQ(::pipe2(steps_, O_CLOEXEC) | ::pipe2(answers_, O_CLOEXEC), 0);
    pid_ = ::fork();
    if (pid_ != 0) return;
    ::close(steps_[1]);
    if (::setgid(kAlice) != 0 || ::setuid(kAlice) != 0) ::_exit(2);
    auto here = test.link_open("v0", 3), there = test.link_open("v1", 4);
    for (char step = 0; here && there && ::read(steps_[0], &step, 1) == 1;) {
      const std::size_t through = frames_through(*here, *there, kFrames);
      if (::write(answers_[1], &through, sizeof through) != sizeof through) break;
    }
    ::_exit(0);
  }
  Sender(const Sender&) = delete;
  Sender& operator=(const Sender&) = delete;
  ~Sender() {
    ::close(steps_[1]);
    ::waitpid(pid_, nullptr, 0);
  }

  // Sends kFrames frames. Returns how many arrived.
  std::size_t through() {
    std::size_t count = kFrames + 1;
    EXPECT_EQ(::write(steps_[1], "s", 1), 1);
    EXPECT_EQ(::read(answers_[0], &count, sizeof count), static_cast<ssize_t>(sizeof count));
    return count;
  }

 private:
  int steps_[2], answers_[2];
  pid_t pid_ = -1;
};

TEST_F(OmxdTest, rate__of_a_policy_that_is_read_again_and_after_a_restart) {
  start();
  Sender alice(*this);
  EXPECT_EQ(alice.through(), kFrames);
  policy_write(kLimited);
  signal(SIGHUP);
  EXPECT_TRUE(becomes_true([&] { return log_says("the policy was read again"); })) << log();
  EXPECT_LT(alice.through(), kFrames / 2);
  // The next broker gives no other user her number.
  EXPECT_EQ(end(SIGTERM), 0);
  start(kLimited);
  as_user(kBob, [&] { EXPECT_TRUE(link_open("v0", 9)); });
  EXPECT_LT(alice.through(), kFrames / 2);
}

TEST_F(OmxdTest, quota__rings_of_endpoints_that_a_new_broker_takes_up_count) {
  start();
  Sender alice(*this);
  EXPECT_EQ(alice.through(), kFrames);
  EXPECT_EQ(end(SIGKILL), -SIGKILL);
  start("users = *\nboards = v0,v1\nmemory = 40M\n");
  as_user(kAlice, [&] {
    std::string why;
    EXPECT_EQ(link_open("v0", 9, &why), nullptr);
    EXPECT_NE(why.find(" of 40 MiB for rings"), std::string::npos) << why;
  });
  as_user(kBob, [&] { EXPECT_TRUE(link_open("v0", 9)); });
}

TEST_F(OmxdTest, rate__that_is_new_after_a_restart) {
  start();
  Sender alice(*this);
  EXPECT_EQ(alice.through(), kFrames);
  EXPECT_EQ(end(SIGTERM), 0);
  start(kLimited);
  EXPECT_LT(alice.through(), kFrames / 2);
}

}  // namespace

}  // namespace omx::broker
