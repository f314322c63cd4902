// SPDX-License-Identifier: BSD-3-Clause
// Attacks by which a user wants to change a sealed socket, or the interface behind it.
#include <arpa/inet.h>
#include <linux/filter.h>
#include <linux/if_packet.h>
#include <linux/io_uring.h>
#include <linux/net_tstamp.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstring>
#include <fstream>

#include "base/bytes.h"
#include "sealed_fixture.h"

namespace omx::broker {
namespace {

using attack_options = SealedTest;

constexpr int kVnetHeaderSize = 24;  // PACKET_VNET_HDR_SZ of linux/if_packet.h from Linux 6.5

template <class Value>
int option_error(const OwnFd& socket, int level, int option, const Value& value) {
  return ::setsockopt(socket.get(), level, option, &value, sizeof value) < 0 ? errno : 0;
}

// Values that a packet socket without a seal takes, each of which would loosen the confinement.
#define EXPECT_SEALED(socket, level, option, value) \
  EXPECT_EQ(option_error(socket, level, option, value), EPERM) << #option

void packet_options_attack(const OwnFd& socket, unsigned ifindex) {
  const int zero = 0, one = 1, version = TPACKET_V3;
  tpacket_req ring{};
  EXPECT_SEALED(socket, SOL_PACKET, PACKET_RX_RING, ring);
  ring = {65536, 64, 2048, 2048};
  EXPECT_SEALED(socket, SOL_PACKET, PACKET_RX_RING, ring);
  EXPECT_SEALED(socket, SOL_PACKET, PACKET_TX_RING, ring);
  EXPECT_SEALED(socket, SOL_PACKET, PACKET_VERSION, version);
  EXPECT_SEALED(socket, SOL_PACKET, PACKET_RESERVE, one);
  for (const int value : {zero, one}) {
    EXPECT_SEALED(socket, SOL_PACKET, PACKET_QDISC_BYPASS, value);
    EXPECT_SEALED(socket, SOL_PACKET, PACKET_VNET_HDR, value);
    EXPECT_SEALED(socket, SOL_PACKET, kVnetHeaderSize, value);
    EXPECT_SEALED(socket, SOL_PACKET, PACKET_IGNORE_OUTGOING, value);
    EXPECT_SEALED(socket, SOL_PACKET, PACKET_ORIGDEV, value);
    EXPECT_SEALED(socket, SOL_PACKET, PACKET_AUXDATA, value);
    EXPECT_SEALED(socket, SOL_PACKET, PACKET_LOSS, value);
    EXPECT_SEALED(socket, SOL_PACKET, PACKET_TX_HAS_OFF, value);
    EXPECT_SEALED(socket, SOL_PACKET, PACKET_TIMESTAMP, value);
    EXPECT_SEALED(socket, SOL_PACKET, PACKET_COPY_THRESH, value);
  }
  for (const unsigned short type :
       {PACKET_MR_PROMISC, PACKET_MR_ALLMULTI, PACKET_MR_MULTICAST, PACKET_MR_UNICAST}) {
    packet_mreq membership{static_cast<int>(ifindex), type, 6, {1, 0, 0x5e, 0, 0, 1}};
    EXPECT_SEALED(socket, SOL_PACKET, PACKET_ADD_MEMBERSHIP, membership);
    EXPECT_SEALED(socket, SOL_PACKET, PACKET_DROP_MEMBERSHIP, membership);
  }
  for (const int type :
       {PACKET_FANOUT_LB, PACKET_FANOUT_HASH, PACKET_FANOUT_LB | PACKET_FANOUT_FLAG_UNIQUEID}) {
    const int group = type << 16;
    EXPECT_SEALED(socket, SOL_PACKET, PACKET_FANOUT, group);
  }
  EXPECT_SEALED(socket, SOL_PACKET, PACKET_FANOUT_DATA, one);
}

void socket_options_attack(const OwnFd& socket) {
  const int zero = 0, one = 1, bytes = 1 << 20;
  const timeval second{1, 0};
  sock_filter all[] = {BPF_STMT(BPF_RET | BPF_K, 0xFFFFFFFF)};
  const sock_fprog filter{1, all};
  EXPECT_SEALED(socket, SOL_SOCKET, SO_ATTACH_FILTER, filter);
  EXPECT_SEALED(socket, SOL_SOCKET, SO_ATTACH_BPF, one);
  EXPECT_SEALED(socket, SOL_SOCKET, SO_DETACH_FILTER, zero);
  EXPECT_SEALED(socket, SOL_SOCKET, SO_LOCK_FILTER, zero);
  for (const int option : {SO_RCVBUF, SO_SNDBUF, SO_RCVBUFFORCE, SO_SNDBUFFORCE})
    EXPECT_SEALED(socket, SOL_SOCKET, option, bytes);
  for (const std::uint32_t mark : {0U, kMarkMagic | 101, kMarkMagic | 100})
    EXPECT_SEALED(socket, SOL_SOCKET, SO_MARK, mark);
  for (const int option :
       {SO_PRIORITY, SO_TIMESTAMP, SO_TIMESTAMPNS, SO_BUSY_POLL, SO_ZEROCOPY, SO_BROADCAST, SO_RXQ_OVFL,
        SO_PASSCRED, SO_NOFCS, SO_INCOMING_CPU, SO_RCVMARK, SO_DEBUG, SO_DONTROUTE})
    EXPECT_SEALED(socket, SOL_SOCKET, option, one);
  const int stamps = SOF_TIMESTAMPING_TX_SCHED | SOF_TIMESTAMPING_SOFTWARE;
  EXPECT_SEALED(socket, SOL_SOCKET, SO_TIMESTAMPING, stamps);
  struct {
    int clock = 1;
    unsigned flags = 0;
  } txtime;
  EXPECT_SEALED(socket, SOL_SOCKET, SO_TXTIME, txtime);
  EXPECT_SEALED(socket, SOL_SOCKET, SO_RCVTIMEO, second);
  EXPECT_SEALED(socket, SOL_SOCKET, SO_SNDTIMEO, second);
  const char interface[] = "lo";
  EXPECT_EQ(::setsockopt(socket.get(), SOL_SOCKET, SO_BINDTODEVICE, interface, sizeof interface), -1);
  EXPECT_EQ(errno, EPERM);
}

// Attempts what needs rights in the private network. `who` goes to the report.
void interface_attack(const OwnFd& socket, const char* who) {
  ifreq request{};
  std::memcpy(request.ifr_name, "v0", 3);
  ASSERT_EQ(::ioctl(socket.get(), SIOCGIFFLAGS, &request), 0) << who;
  for (const unsigned long call : {SIOCSIFFLAGS, SIOCSIFMTU, SIOCSIFHWADDR, SIOCADDMULTI, SIOCDELMULTI,
                                   SIOCSIFTXQLEN, SIOCSIFNAME, SIOCSIFADDR}) {
    EXPECT_LT(::ioctl(socket.get(), call, &request), 0) << who << ' ' << std::hex << call;
    EXPECT_EQ(errno, EPERM) << who << ' ' << std::hex << call;
  }
  EXPECT_LT(::ioctl(socket.get(), SIOCGSKNS, 0), 0) << who;  // the way into the private network
  EXPECT_EQ(errno, EPERM) << who;
}

bool user_namespace_enter() {
  const uid_t user = ::getuid();
  if (::unshare(CLONE_NEWUSER) < 0) return false;
  std::ofstream("/proc/self/uid_map") << "0 " << user << " 1";
  return true;
}

int send_marked(const OwnFd& socket, const Bytes& frame, std::uint32_t mark) {
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof mark)] = {};
  iovec piece{const_cast<std::byte*>(frame.data()), frame.size()};
  msghdr message{};
  message.msg_iov = &piece;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  cmsghdr* head = CMSG_FIRSTHDR(&message);
  head->cmsg_level = SOL_SOCKET;
  head->cmsg_type = SO_MARK;
  head->cmsg_len = CMSG_LEN(sizeof mark);
  std::memcpy(CMSG_DATA(head), &mark, sizeof mark);
  return ::sendmsg(socket.get(), &message, 0) < 0 ? errno : 0;
}

TEST_F(attack_options, of_packet_sockets) {
  const Sealed sealed = open(kEndpoint, {.ring = link::ring_geometry(1500, 64, 1 << 20)});
  as_user([&] {
    packet_options_attack(sealed.data, macvlan_.ifindex);
    packet_options_attack(sealed.wakeup, macvlan_.ifindex);
  });
  packet_options_attack(sealed.data, macvlan_.ifindex);  // nor can root
}

TEST_F(attack_options, of_all_sockets) {
  const Sealed sealed = open(kEndpoint);
  as_user([&] {
    socket_options_attack(sealed.data);
    socket_options_attack(sealed.wakeup);
  });
}

TEST_F(attack_options, from_a_user_namespace_of_his_own) {
  const Sealed sealed = open(kEndpoint);
  const Bytes frame = frame_from(kEndpoint, 39);
  as_user([&] {
    if (!user_namespace_enter()) ::_exit(0);
    packet_options_attack(sealed.data, macvlan_.ifindex);
    socket_options_attack(sealed.data);
    interface_attack(sealed.data, "root of a user namespace");
    EXPECT_EQ(send_marked(sealed.data, frame, 0), EPERM);
    EXPECT_EQ(::unshare(CLONE_NEWNET), 0);
    packet_options_attack(sealed.data, macvlan_.ifindex);
    interface_attack(sealed.data, "root of a network namespace");
    EXPECT_EQ(send_marked(sealed.data, frame, 0), EPERM);
  });
}

// A socket outlives the broker, and with it the broker's cgroup.
TEST_F(attack_options, after_the_end_of_the_broker) {
  const Sealed sealed = open(kEndpoint);
  const auto left = seal_->leave();
  ASSERT_TRUE(left) << left.error().message;
  as_user([&] {
    packet_options_attack(sealed.data, macvlan_.ifindex);
    socket_options_attack(sealed.data);
  });
}

TEST_F(attack_options, another_mark_for_one_frame) {
  const Sealed sealed = open(kEndpoint), other = open(10);
  as_user([&] {
    for (const std::uint32_t mark : {0U, 7U, kMarkMagic | other.slot})
      EXPECT_EQ(send_marked(sealed.data, frame_from(kEndpoint, 39), mark), EPERM);
    EXPECT_EQ(send_frame(sealed.data, last_from(kEndpoint)), 0);
  });
  EXPECT_TRUE(arrived(kEndpoint).empty());
}

// If the mark of another grant could be had, the cookie would not fit.
TEST_F(attack_options, mark_of_another_grant_by_root) {
  const Sealed sealed = open(kEndpoint), other = open(10);
  EXPECT_EQ(send_marked(sealed.data, frame_from(10, 39), kMarkMagic | other.slot), ENOBUFS);
  EXPECT_EQ(send_frame(sealed.data, last_from(kEndpoint)), 0);
  EXPECT_TRUE(arrived(kEndpoint).empty());
  EXPECT_EQ(counters(other).revoked, 1U);
}

int bind_error(const OwnFd& socket, unsigned ifindex, unsigned protocol) {
  sockaddr_ll at{};
  at.sll_family = AF_PACKET;
  at.sll_protocol = htons(static_cast<std::uint16_t>(protocol));
  at.sll_ifindex = static_cast<int>(ifindex);
  return ::bind(socket.get(), reinterpret_cast<const sockaddr*>(&at), sizeof at) < 0 ? errno : 0;
}

TEST_F(attack_options, bind_a_fixed_socket_to_something_else) {
  binding_ = Binding::fixed;
  const Sealed sealed = open(kEndpoint);
  as_user([&] {
    for (const OwnFd* socket : {&sealed.data, &sealed.wakeup})
      for (const unsigned ifindex : {0U, 1U, macvlan_.ifindex, 77U})
        for (const unsigned protocol : {0U, 3U, 0x0800U, 0x86DFU})
          EXPECT_NE(bind_error(*socket, ifindex, protocol), 0) << ifindex << ' ' << protocol;
    sockaddr none{};
    EXPECT_LT(::connect(sealed.data.get(), &none, sizeof none), 0);
    EXPECT_LT(::listen(sealed.data.get(), 1), 0);
  });
}

// The user can bind it, even to all protocols of all interfaces, and nothing more comes in or gets out.
TEST_F(attack_options, bind_a_loose_socket_to_something_else) {
  const Sealed sealed = open(kEndpoint), victim = open(10);
  std::vector<Bytes> frames;
  for (const unsigned ethertype : {0x0800U, 0x86DDU, 0x88CCU}) {
    frames.push_back(frame_to(kEndpoint, 39));
    store_be16(&frames.back()[12], static_cast<std::uint16_t>(ethertype));
    frames.push_back(frames.back());
    mac_store(&frames.back()[0], kBroadcastNic);
  }
  for (const unsigned type : kEndpointTypes) frames.push_back(frame_to(10, type));
  for (const NicId to : {link::nic_of("v0"), NicId{0x020000000001}}) {
    frames.push_back(frame_to(kEndpoint, 39));
    mac_store(&frames.back()[0], to);
  }
  ASSERT_EQ(run_in(*network_, [] { link::ip("link set lo up"); }), 0);
  const Bytes bad = frame_from(10, 39), ip = [&] {
    Bytes frame = frame_from(kEndpoint, 39);
    store_be16(&frame[12], 0x0800);
    return frame;
  }();
  for (const unsigned ifindex : {1U, 0U, macvlan_.ifindex})
    for (const unsigned protocol : {0x0800U, 3U, 0x86DFU}) {
      as_user([&] {
        EXPECT_EQ(bind_error(sealed.data, ifindex, protocol), 0);
        send_frame(sealed.data, bad);
        send_frame(sealed.data, ip);
        packet_options_attack(sealed.data, macvlan_.ifindex);
      });
      for (const Bytes& frame : frames) peer_send(frame);
      as_user([&] { EXPECT_EQ(send_frame(victim.data, last_from(10)), 0); });
      EXPECT_TRUE(arrived(10).empty()) << ifindex << ' ' << protocol;
      peer_send(frame_to(10, 40));
      EXPECT_TRUE(link::becomes_true([&] {
        const auto types = types_in(victim.data);
        return !types.empty() && types.back() == 40;
      }));
      EXPECT_TRUE(types_in(sealed.data).empty()) << ifindex << ' ' << protocol;
    }
  peer_send(frame_to(kEndpoint, 39));
  EXPECT_TRUE(link::becomes_true([&] { return !types_in(sealed.data).empty(); })) << "his own still come in";
}

TEST_F(attack_options, of_the_interface) {
  const Sealed sealed = open(kEndpoint);
  as_user([&] { interface_attack(sealed.data, "user"); });
  const auto found = macvlan_find(*network_, "v0");
  ASSERT_TRUE(found && *found);
  EXPECT_TRUE((*found)->up);
  EXPECT_EQ((*found)->nic, macvlan_.nic);
}

// io_uring has a road of its own to socket options.
class Uring {
 public:
  Uring() {
    io_uring_params facts{};
    fd_ = OwnFd(static_cast<int>(::syscall(SYS_io_uring_setup, 1, &facts)));
    if (!fd_.open()) return;
    const std::size_t bytes = std::max<std::size_t>(facts.sq_off.array + 4, facts.cq_off.cqes + 64);
    rings_ = map(bytes, IORING_OFF_SQ_RING);
    entries_ = map(sizeof(io_uring_sqe), IORING_OFF_SQES);
    facts_ = facts;
  }
  bool open() const { return fd_.open() && rings_ != MAP_FAILED && entries_ != MAP_FAILED; }

  // Returns the negative errno, or 0.
  int option_set(const OwnFd& socket, int level, int option, const void* value, std::uint32_t bytes) {
    auto* entry = static_cast<unsigned char*>(entries_);
    std::memset(entry, 0, sizeof(io_uring_sqe));
    const std::uint8_t command = 46;  // IORING_OP_URING_CMD
    const std::uint32_t set = 3;      // SOCKET_URING_OP_SETSOCKOPT
    const std::int32_t fd = socket.get();
    const auto address = reinterpret_cast<std::uintptr_t>(value);
    std::memcpy(entry + 0, &command, sizeof command);
    std::memcpy(entry + 4, &fd, sizeof fd);
    std::memcpy(entry + 8, &set, sizeof set);
    std::memcpy(entry + 16, &level, sizeof level);
    std::memcpy(entry + 20, &option, sizeof option);
    std::memcpy(entry + 44, &bytes, sizeof bytes);
    std::memcpy(entry + 48, &address, sizeof address);
    word(facts_.sq_off.array) = 0;
    __atomic_store_n(&word(facts_.sq_off.tail), word(facts_.sq_off.tail) + 1, __ATOMIC_RELEASE);
    if (::syscall(SYS_io_uring_enter, fd_.get(), 1, 1, IORING_ENTER_GETEVENTS, nullptr, 0) != 1)
      return -errno;
    const std::uint32_t head = word(facts_.cq_off.head);
    std::int32_t result = 0;
    std::memcpy(
        &result,
        static_cast<char*>(rings_) + facts_.cq_off.cqes + 16 * (head & word(facts_.cq_off.ring_mask)) + 8,
        sizeof result);
    __atomic_store_n(&word(facts_.cq_off.head), head + 1, __ATOMIC_RELEASE);
    return result;
  }

 private:
  void* map(std::size_t bytes, off_t at) const {
    return ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd_.get(), at);
  }
  std::uint32_t& word(std::uint32_t at) const {
    return *reinterpret_cast<std::uint32_t*>(static_cast<char*>(rings_) + at);
  }

  OwnFd fd_;
  void* rings_ = MAP_FAILED;
  void* entries_ = MAP_FAILED;
  io_uring_params facts_{};
};

TEST_F(attack_options, by_io_uring) {
  const Sealed sealed = open(kEndpoint);
  const int one = 1;
  const auto plain = packet_socket_open(*network_);
  ASSERT_TRUE(plain);
  {
    Uring uring;
    if (!uring.open()) GTEST_SKIP() << "no io_uring here";
    if (uring.option_set(*plain, SOL_PACKET, PACKET_QDISC_BYPASS, &one, sizeof one) != 0)
      GTEST_SKIP() << "io_uring of this kernel sets no socket options";
  }
  as_user([&] {
    Uring uring;
    ASSERT_TRUE(uring.open());
    EXPECT_EQ(uring.option_set(sealed.data, SOL_PACKET, PACKET_QDISC_BYPASS, &one, sizeof one), -EPERM);
    EXPECT_EQ(uring.option_set(sealed.data, SOL_SOCKET, SO_PRIORITY, &one, sizeof one), -EPERM);
  });
}

}  // namespace
}  // namespace omx::broker
