// SPDX-License-Identifier: BSD-3-Clause
// Helpers for endpoints that share a hook, in this process and in others.
#pragma once

#include <linux/if_packet.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <map>
#include <set>

#include "tests/support/signal_child.h"
#include "tests/support/test_network.h"

namespace omx::link {

inline constexpr std::uint8_t kMedium = 39;

// Returns the group that a link's socket belongs to, or 0 when it has a hook of its own.
inline std::uint32_t group_of(const Transport& link) {
  std::uint32_t group = 0;
  socklen_t size = sizeof group;
  EXPECT_EQ(::getsockopt(link.descriptor(), SOL_PACKET, PACKET_FANOUT, &group, &size), 0);
  return group;
}

// Returns to how many hooks of these links the kernel offers each frame.
inline std::size_t hooks_of(const std::map<unsigned, Transport*>& links) {
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

// Returns how many sockets of this network take our frames.
inline int packet_sockets() {
  std::ifstream table("/proc/net/packet");
  int count = 0;
  for (std::string line; std::getline(table, line);) count += line.find(" 86df ") != std::string::npos;
  return count;
}

inline PacketLinkOptions shared(unsigned endpoint) {
  PacketLinkOptions options;
  options.endpoint = static_cast<std::uint8_t>(endpoint);
  options.ring_frames = 64;
  options.own_sockets = 0;
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
    EXPECT_TRUE(signal_child(pid_, SIGSTOP));
    EXPECT_EQ(::waitpid(pid_, nullptr, WUNTRACED), pid_);
  }
  void go_on() { EXPECT_TRUE(signal_child(pid_, SIGCONT)); }
  void end(int signal) {
    if (pid_ <= 0) return;
    signal_child(pid_, signal);
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
      std::vector<std::unique_ptr<Transport>> links;
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

class FanoutTest : public CableTest {
 protected:
  // Sends a frame to each link, and expects that each gets its own frame and no other.
  void expect_own_frames(Transport& from, const std::map<unsigned, Transport*>& links) {
    seed_++;
    for (const auto& [endpoint, link] : links)
      frame_send(from, make_frame(link->interface().nic(), from.interface().nic(), 100, kMedium,
                                  static_cast<std::uint8_t>(endpoint), static_cast<std::uint8_t>(seed_)));
    for (const auto& [endpoint, link] : links) {
      Collector got;
      ASSERT_TRUE(receive_until(*link, got, 1)) << "endpoint " << endpoint << ", time " << seed_;
      EXPECT_EQ(got.frames.size(), 1U);
      EXPECT_EQ(got.frames[0],
                make_frame(link->interface().nic(), from.interface().nic(), 100, kMedium,
                           static_cast<std::uint8_t>(endpoint), static_cast<std::uint8_t>(seed_)))
          << "endpoint " << endpoint;
      EXPECT_EQ(link->counters().frames_misdirected, 0U) << "endpoint " << endpoint;
    }
  }

 private:
  unsigned seed_ = 0;
};

}  // namespace omx::link
