// SPDX-License-Identifier: BSD-3-Clause
// Tests of endpoints that share a hook, and of what may disturb them: other users, stopped processes, liars,
// forked children.
#include <fcntl.h>
#include <fmt/format.h>
#include <linux/securebits.h>
#include <net/if.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/un.h>

#include <cstring>
#include <thread>

#include "fanout_neighbours.h"
#include "link/fanout/fanout_meeting.h"
#include "link/fanout/fanout_names.h"
#include "link/fanout/fanout_share.h"
#include "link/packet/packet_ring.h"

namespace omx::link {
namespace {

using fanout_unknown_peers = FanoutTest;

constexpr uid_t kOtherUser = 54321;

std::string group_name(unsigned number) {
  return fanout_group_name(::if_nametoindex("v1"), number);
}

// Returns what a process of this user gets that may open packet sockets. Asks again, because the group sends
// away a process that is slow to show its right.
FanoutShare share_get(const std::string& name) {
  const OwnFd packet(::socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0));
  FanoutShare share;
  EXPECT_TRUE(becomes_true([&] {
    const OwnFd connection = name_connect(name);
    if (connection.open() && right_show(connection.get(), packet.get()))
      share = share_receive(connection.get(), 1000);
    return share.whole();
  }));
  return share;
}

// Opens the group's directory, beside the endpoints that use it.
bool look_into(const FanoutShare& share, FanoutMemory& memory) {
  return memory.adopt(OwnFd(::fcntl(share.memory.get(), F_DUPFD_CLOEXEC, 0)));
}

// Runs `body` in a child of another user that keeps its capabilities.
template <class Body>
pid_t as_other_user(Body body) {
  const pid_t pid = ::fork();
  if (pid == 0) {
    ::alarm(60);
    if (::prctl(PR_SET_SECUREBITS, SECBIT_NO_SETUID_FIXUP) != 0 || ::seteuid(kOtherUser) != 0) ::_exit(99);
    ::_exit(body());
  }
  return pid;
}

// Returns the exit status of a child.
int status_of(pid_t pid) {
  int status = -1;
  EXPECT_EQ(::waitpid(pid, &status, 0), pid);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST_F(fanout_unknown_peers, lock_held__a_hook_of_its_own_at_once) {
  auto a = open("v0");
  auto first = open("v1", shared(1));
  const FanoutShare share = share_get(group_name(0));
  ASSERT_TRUE(share.whole());
  FanoutMemory memory;
  ASSERT_TRUE(look_into(share, memory));
  OwnFd stopped = memory.lock(kJoinLock);  // by a process that is stopped now
  ASSERT_TRUE(stopped.open());
  auto second = open("v1", shared(2));
  EXPECT_EQ(group_of(*second), 0U);
  EXPECT_NE(memory.get()->stuck[kJoinLock], 0U) << "nobody waits for that turn again";
  auto third = open("v1", shared(3));
  EXPECT_EQ(group_of(*third), 0U);
  expect_own_frames(*a, {{1, first.get()}, {2, second.get()}, {3, third.get()}});
  stopped.reset();
  auto fourth = open("v1", shared(4));
  EXPECT_EQ(group_of(*fourth), group_of(*first));
  expect_own_frames(*a, {{1, first.get()}, {2, second.get()}, {3, third.get()}, {4, fourth.get()}});
}

TEST_F(fanout_unknown_peers, table_lock_held__the_member_is_left_to_others) {
  auto a = open("v0");
  auto first = open("v1", shared(1));
  const FanoutShare share = share_get(group_name(0));
  FanoutMemory memory;
  ASSERT_TRUE(look_into(share, memory));
  OwnFd stopped = memory.lock(load_lock(FanoutKind::frames));
  auto second = open("v1", shared(2));
  EXPECT_EQ(group_of(*second), 0U);
  expect_own_frames(*a, {{1, first.get()}, {2, second.get()}});
  stopped.reset();
  const int sockets = packet_sockets();
  auto third = open("v1", shared(3));
  EXPECT_EQ(group_of(*third), group_of(*first));
  EXPECT_EQ(packet_sockets(), sockets) << "a new one was made";
  expect_own_frames(*a, {{1, first.get()}, {2, second.get()}, {3, third.get()}});
}

// A process that is stopped while it prepares a socket delays the next one, once.
TEST_F(fanout_unknown_peers, maker_stopped__his_member_is_passed_over) {
  auto a = open("v0");
  auto first = open("v1", shared(1));
  const FanoutShare share = share_get(group_name(0));
  FanoutMemory memory;
  ASSERT_TRUE(look_into(share, memory));
  FanoutDirectory& d = *memory.get();
  const std::uint32_t member = d.spares;
  OwnFd stopped = memory.lock(member_lock(member));
  const OwnFd his(::socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0));
  d.members[member].owner = -1;
  ASSERT_TRUE(spare_put(share, his.get()));
  auto second = open("v1", shared(2));
  EXPECT_EQ(group_of(*second), group_of(*first));
  EXPECT_EQ(d.members[member].state, MemberRecord::spoiled);
  auto third = open("v1", shared(3));
  EXPECT_EQ(group_of(*third), group_of(*first));
  expect_own_frames(*a, {{1, first.get()}, {2, second.get()}, {3, third.get()}});
}

// Any user may take any name. A group whose name is taken is not used.
TEST_F(fanout_unknown_peers, names_squatted__others_are_taken_and_then_hooks_of_ones_own) {
  auto a = open("v0");
  std::vector<OwnFd> held;
  // No process listens by these names, in each of the two possible ways.
  held.push_back(name_hold(group_name(0)));
  held.emplace_back(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string name = group_name(1);
  std::memcpy(address.sun_path + 1, name.data(), name.size());
  ASSERT_EQ(::bind(held.back().get(), reinterpret_cast<const sockaddr*>(&address),
                   static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size())),
            0);
  auto first = open("v1", shared(1));
  EXPECT_NE(group_of(*first), 0U);
  auto second = open("v1", shared(2));
  expect_own_frames(*a, {{1, first.get()}, {2, second.get()}});
  EXPECT_EQ(group_of(*second), group_of(*first));
}

// A process of another user listens by our name, and answers as we would.
TEST_F(fanout_unknown_peers, another_user__is_neither_believed_nor_served) {
  auto a = open("v0");
  int ready[2], end[2];
  ASSERT_EQ(::pipe(ready), 0);
  ASSERT_EQ(::pipe(end), 0);
  const std::string ours = group_name(0);
  const pid_t pid = as_other_user([&]() -> int {
    ::close(end[1]);
    // The other user has a group of its own, by its own name and by ours.
    PacketLinkOptions options = shared(40);
    options.interface = "v1";
    auto link = packet_link_open(options);
    if (!link || group_of(**link) == 0) return 98;
    const FanoutShare share = share_get(group_name(0));
    const OwnFd listener = name_listen(ours);
    if (!share.whole() || !listener.open() || ::write(ready[1], "k", 1) != 1) return 97;
    for (;;) {
      pollfd waits[2] = {{listener.get(), POLLIN, 0}, {end[0], POLLIN, 0}};
      ::poll(waits, 2, -1);
      if (waits[1].revents) return 0;
      const OwnFd victim(::accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
      if (victim.open()) share_send(victim.get(), share);
    }
  });
  char byte;
  ASSERT_EQ(::read(ready[0], &byte, 1), 1);
  auto first = open("v1", shared(1));
  EXPECT_NE(group_of(*first), 0U) << "the first name that is free";
  const FanoutShare his = [&] {
    const OwnFd packet(::socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0));
    const OwnFd connection = name_connect(
        fmt::format("omx/{}/hooks{}/{}/0", ::if_nametoindex("v1"), FanoutDirectory::kVersion, kOtherUser));
    EXPECT_TRUE(connection.open());
    right_show(connection.get(), packet.get());  // the other process may hang up before
    return share_receive(connection.get(), 300);
  }();
  EXPECT_FALSE(his.whole()) << "his group let another user in";
  expect_own_frames(*a, {{1, first.get()}});
  ASSERT_EQ(::write(end[1], "e", 1), 1);
  EXPECT_EQ(status_of(pid), 0);
}

TEST_F(fanout_unknown_peers, two_users__two_groups_and_each_his_frames) {
  auto a = open("v0");
  auto first = open("v1", shared(1));
  auto second = open("v1", shared(2));
  int ready[2];
  ASSERT_EQ(::pipe(ready), 0);
  const std::uint32_t ours = group_of(*first);
  const pid_t his = as_other_user([&] {
    PacketLinkOptions options = shared(40);
    options.interface = "v1";
    auto link = packet_link_open(options);
    if (!link || group_of(**link) == 0 || group_of(**link) == ours) return 1;
    if (::write(ready[1], "k", 1) != 1) return 2;
    Collector got;
    if (!receive_until(**link, got, 1)) return 3;
    return got.frames.size() == 1 && (*link)->counters().frames_misdirected == 0 ? 0 : 4;
  });
  ::close(ready[1]);
  char byte;
  EXPECT_EQ(::read(ready[0], &byte, 1), 1);
  expect_own_frames(*a, {{1, first.get()}, {2, second.get()}});
  frame_send(*a, make_frame(first->interface().nic(), a->interface().nic(), 100, kMedium, 40, 7));
  EXPECT_EQ(status_of(his), 0);
}

// A process that could not open a packet socket gets none: the same user may lack that right.
TEST_F(fanout_unknown_peers, same_user__gets_nothing_without_a_packet_socket_of_his_own) {
  const Neighbour member(1, 1);
  const std::string name = group_name(0);
  const auto asks = [&](int shown) {
    const OwnFd connection = name_connect(name);
    EXPECT_TRUE(connection.open());
    if (shown >= 0) right_show(connection.get(), shown);
    return share_receive(connection.get(), 500).whole();
  };
  const OwnFd other(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  EXPECT_FALSE(asks(-1));
  EXPECT_FALSE(asks(other.get()));
  EXPECT_TRUE(share_get(name).whole());
  // A socket of another network counts for nothing: a process that may open one there may lack the right
  // here.
  const pid_t elsewhere = as_other_user([&] {
    if (::seteuid(0) != 0) return 1;
    const OwnFd connection = name_connect(name);
    if (::unshare(CLONE_NEWNET) != 0) return 2;
    const OwnFd packet(::socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0));
    if (!packet.open()) return 3;
    right_show(connection.get(), packet.get());
    return share_receive(connection.get(), 500).whole() ? 4 : 0;
  });
  EXPECT_EQ(status_of(elsewhere), 0);
}

// Counts go backwards. The process must not load a table again and again until they fit.
TEST_F(fanout_unknown_peers, garbage_in_the_counts__who_enters_ends) {
  auto a = open("v0");
  auto first = open("v1", shared(1));
  const FanoutShare share = share_get(group_name(0));
  FanoutMemory memory;
  ASSERT_TRUE(look_into(share, memory));
  FanoutDirectory& d = *memory.get();
  auto second = open("v1", shared(2));
  second.reset();
  OwnFd table = memory.lock(load_lock(FanoutKind::frames));
  ASSERT_TRUE(table.open());
  const std::uint32_t before = d.wanted[0];
  std::thread opener([&] { second = open("v1", shared(2)); });
  EXPECT_TRUE(becomes_true([&] { return d.wanted[0] != before; }));
  d.wanted[0] = 0;
  table.reset();
  opener.join();
  expect_own_frames(*a, {{1, first.get()}, {2, second.get()}});
}

// A group lasts as long as one of its processes. The kernel gives the index of a removed interface to a new
// one, if it is asked to.
TEST_F(fanout_unknown_peers, interface_made_again__its_endpoints_hear) {
  const unsigned v0 = ::if_nametoindex("v0"), v1 = ::if_nametoindex("v1");
  const Neighbour remains(10, 2);
  auto stays = open("v1", shared(1)), leaves = open("v1", shared(2));
  leaves.reset();  // a member that could be taken
  ip("link del v0");
  ip(fmt::format("link add v0 index {} type veth peer name v1 index {}", v0, v1));
  set_mtu(1500);
  auto a = open("v0");
  auto first = open("v1", shared(2));
  auto second = open("v1", shared(3));
  expect_own_frames(*a, {{2, first.get()}, {3, second.get()}});
  EXPECT_NE(group_of(*first), 0U);
  EXPECT_EQ(group_of(*first), group_of(*second));
}

// The names of dead members once said which members live.
TEST_F(fanout_unknown_peers, board__nobody_can_keep_it_from_the_living) {
  auto a = open("v0");
  auto dead = std::make_unique<Neighbour>(10, 2);
  auto link = open("v1", shared(1));
  dead->end(SIGKILL);
  std::vector<OwnFd> squatted;
  for (unsigned version : {0U, 1U, 2U})
    for (unsigned member = 0; member < 3; member++)
      squatted.push_back(name_hold(fmt::format("omx/{}/hooks{}/{}/0/place/{}", ::if_nametoindex("v1"),
                                               version ? std::to_string(version) : "", ::geteuid(), member)));
  Collector got;
  EXPECT_TRUE(becomes_true([&] {
    frame_send(*a, make_frame(kBroadcastNic, a->interface().nic(), 64, 3));
    link->receive(got, 10);
    return !got.frames.empty();
  }));
}

// Another process had the ring of the member before, and may still write there.
TEST_F(fanout_unknown_peers, ring__what_does_not_lie_in_its_slot_is_dropped) {
  auto a = open("v0");
  auto link = open("v1", shared(1));
  const RingGeometry geometry = ring_geometry(1500, 64, 32U << 20);
  void* memory = ::mmap(nullptr, geometry.bytes(), PROT_READ | PROT_WRITE, MAP_SHARED, link->descriptor(), 0);
  ASSERT_NE(memory, MAP_FAILED);
  auto* header = static_cast<tpacket2_hdr*>(memory);
  struct Lie {
    std::uint16_t at;
    std::uint32_t length;
  };
  std::uint64_t ignored = 0;
  for (const Lie lie : {Lie{66, 1U << 30}, Lie{66, geometry.slot_bytes - 65}, Lie{0xFFFF, 60},
                        Lie{66, 0xFFFFFFFF}, Lie{static_cast<std::uint16_t>(geometry.slot_bytes + 1), 0}}) {
    header->tp_mac = lie.at;
    header->tp_len = header->tp_snaplen = lie.length;
    __atomic_store_n(&header->tp_status, TP_STATUS_USER, __ATOMIC_RELEASE);
    Collector got;
    link->receive(got, 1);
    EXPECT_TRUE(got.frames.empty()) << lie.at << " " << lie.length;
    EXPECT_EQ(link->counters().frames_ignored, ++ignored);
    header = reinterpret_cast<tpacket2_hdr*>(reinterpret_cast<std::byte*>(header) + geometry.slot_bytes);
  }
  ::munmap(memory, geometry.bytes());
}

// A range of addresses where this process has a file of that name mapped.
struct Range {
  std::uintptr_t begin, end;
};
std::vector<Range> mapped(const std::string& name) {
  std::vector<Range> found;
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    Range range{};
    if (line.find(name) != std::string::npos &&
        std::sscanf(line.c_str(), "%lx-%lx", &range.begin, &range.end) == 2)
      found.push_back(range);
  }
  return found;
}

TEST_F(fanout_unknown_peers, forked_child__keeps_what_it_has_where_the_parent_had_rings) {
  auto a = open("v0");
  auto link = open("v1", shared(1));
  std::vector<Range> ranges = mapped("socket:");
  for (const Range& range : mapped("open-mx hooks")) ranges.push_back(range);
  ASSERT_EQ(ranges.size(), 3U);
  const pid_t pid = ::fork();
  if (pid == 0) {
    ::alarm(20);
    for (const Range& range : ranges) {
      void* mine = ::mmap(reinterpret_cast<void*>(range.begin), range.end - range.begin,
                          PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
      if (mine == MAP_FAILED) ::_exit(1);
    }
    link.reset();
    a.reset();
    for (const Range& range : ranges) *reinterpret_cast<volatile char*>(range.begin) = 1;
    ::_exit(0);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(pid, &status, 0), pid);
  EXPECT_TRUE(WIFEXITED(status)) << "signal " << WTERMSIG(status);
  EXPECT_EQ(WEXITSTATUS(status), 0);
  expect_own_frames(*a, {{1, link.get()}});
}

TEST_F(fanout_unknown_peers, forked_while_another_thread_opens__the_child_opens_its_own) {
  auto a = open("v0");
  Neighbour stopped(10, 1);
  stopped.stop();  // so that a newcomer waits for an answer
  int begins[2];
  ASSERT_EQ(::pipe(begins), 0);
  std::unique_ptr<Transport> link;
  std::thread opener([&] {
    EXPECT_EQ(::write(begins[1], "b", 1), 1);
    link = open("v1", shared(1));
  });
  char byte;
  ASSERT_EQ(::read(begins[0], &byte, 1), 1);
  ::poll(nullptr, 0, 100);
  const pid_t pid = ::fork();
  if (pid == 0) {
    ::alarm(20);
    PacketLinkOptions options = shared(2);
    options.interface = "v1";
    ::_exit(packet_link_open(options) ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(pid, &status, 0), pid);
  EXPECT_TRUE(WIFEXITED(status)) << "signal " << WTERMSIG(status);
  opener.join();
  stopped.go_on();
  expect_own_frames(*a, {{1, link.get()}});
}

}  // namespace
}  // namespace omx::link
