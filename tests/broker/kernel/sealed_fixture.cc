// SPDX-License-Identifier: BSD-3-Clause
#include "sealed_fixture.h"

#include <arpa/inet.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <fstream>

#include "base/bytes.h"
#include "kernel_needs.h"
#include "link/packet/packet_socket.h"
#include "netdev/socket_buffer.h"
#include "tests/support/user_process.h"
#include "tools/broker/kernel/egress_hook.h"
#include "tools/broker/kernel/egress_program.h"
#include "wire/packets.h"

namespace omx::broker {

namespace {

constexpr uid_t kUser = 65534;
constexpr std::size_t kLastSize = 77;  // of the last frame of an attack; no other frame has it

OwnFd peer_open(const std::string& interface) {
  OwnFd fd = link::packet_socket_new();
  link::receive_buffer_set(fd.get(), link::kSocketBuffer);
  sockaddr_ll at{};
  at.sll_family = AF_PACKET;
  at.sll_protocol = htons(ETH_P_ALL);
  at.sll_ifindex = static_cast<int>(::if_nametoindex(interface.c_str()));
  EXPECT_EQ(::bind(fd.get(), reinterpret_cast<const sockaddr*>(&at), sizeof at), 0);
  return fd;
}

std::optional<Bytes> frame_take(const OwnFd& socket) {
  Bytes frame(65536);
  const ssize_t got = ::recv(socket.get(), frame.data(), frame.size(), MSG_DONTWAIT);
  if (got < 0) return std::nullopt;
  frame.resize(static_cast<std::size_t>(got));
  return frame;
}

}  // namespace

int send_frame(const OwnFd& socket, const Bytes& frame) {
  return ::send(socket.get(), frame.data(), frame.size(), 0) < 0 ? errno : 0;
}

void set_source(Bytes& frame, unsigned type, std::uint8_t endpoint) {
  const std::size_t at = type == 42 ? 14 : type == 44 ? 17 : type == 45 ? 20 : 18;
  if (at < frame.size()) frame[at] = std::byte{endpoint};
}

void SealedTest::SetUp() {
  CableTest::SetUp();
  if (IsSkipped()) return;
  // The kernel's own frames would be seen at the other end.
  for (const char* end : {"v0", "v1"})
    std::ofstream(std::string("/proc/sys/net/ipv6/conf/") + end + "/disable_ipv6") << 1;
  auto seal = Seal::enter();
  if (!seal) GTEST_SKIP() << seal.error().message;  // cgroups differ from host to host
  seal_.emplace(std::move(*seal));
  auto network = PrivateNetwork::make();
  OMX_NEED(network);
  network_.emplace(std::move(*network));
  const std::uint32_t ifindex = ::if_nametoindex("v0");
  const auto macvlan = macvlan_make(
      *network_, {.name = "v0", .lower = ifindex, .nic = board_mac(link::nic_of("v0")), .mtu = 1500});
  OMX_NEED(macvlan);
  macvlan_ = *macvlan;
  auto maps = grant_maps_make();
  OMX_NEED(maps);
  maps_ = std::move(*maps);
  program_put(place_);
  if (IsSkipped() || HasFatalFailure()) return;
  peer_ = peer_open("v1");
}

void SealedTest::program_put(Place place) {
  Result<void> removed, at_macvlan, started;
  const auto put = [&](std::uint32_t ifindex, Unmarked unmarked, OwnFd& program) -> Result<void> {
    auto loaded = egress_program_load(maps_, unmarked);
    if (!loaded) return tl::unexpected(loaded.error());
    program = std::move(*loaded);
    return egress_hook_add(ifindex, program.get());
  };
  const Result<void> at_nic = put(::if_nametoindex("v0"), Unmarked::pass, nic_program_);
  const int failed = run_in(*network_, [&] {
    if (place == Place::nic)
      removed = egress_hook_remove(macvlan_.ifindex);
    else
      at_macvlan = put(macvlan_.ifindex, Unmarked::drop, program_);
  });
  ASSERT_EQ(failed, 0);
  OMX_NEED(at_nic);
  OMX_NEED(at_macvlan);
  OMX_NEED(removed);
  const auto up = macvlan_start(*network_, "v0");
  OMX_NEED(up);
}

void SealedTest::TearDown() {
  if (!seal_) return;
  const auto left = seal_->leave();
  EXPECT_TRUE(left) << left.error().message;
}

Sealed SealedTest::open(std::uint8_t endpoint, const SocketMemory& memory) {
  Sealed sealed;
  sealed.slot = next_slot_++;
  sealed.endpoint = endpoint;
  auto classes = classes_make();
  EXPECT_TRUE(classes);
  if (!classes) return sealed;
  sealed.classes = std::move(*classes);
  sealed.words = static_cast<Classes*>(
      ::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, sealed.classes.get(), 0));
  *sealed.words = {1, 0, 4};
  std::uint64_t cookie = 0;
  const auto make = [&](std::size_t word) {
    const bool is_data = word == offsetof(Classes, data);
    auto socket = packet_socket_open(*network_, is_data ? memory : SocketMemory{});
    EXPECT_TRUE(socket) << socket.error().message;
    if (!socket) return OwnFd{};
    if (cookie == 0) cookie = socket_cookie(socket->get()).value_or(0);
    const auto program =
        receive_program_load(maps_, sealed.classes.get(), {sealed.slot, cookie, macvlan_.ifindex, word});
    EXPECT_TRUE(program) << program.error().message;
    if (!program) return OwnFd{};
    const auto locked = packet_socket_lock(socket->get(), program->get());
    EXPECT_TRUE(locked) << locked.error().message;
    const auto done = packet_socket_seal(socket->get(), macvlan_.ifindex, sealed.slot, binding_);
    EXPECT_TRUE(done) << done.error().message;
    return std::move(*socket);
  };
  sealed.data = make(offsetof(Classes, data));
  sealed.wakeup = make(offsetof(Classes, wakeup));
  EXPECT_EQ(grant_write(maps_, sealed.slot, grant_of(sealed)), 0);
  return sealed;
}

Grant SealedTest::grant_of(const Sealed& sealed) const {
  Grant grant;
  grant.cookie = socket_cookie(sealed.data.get()).value_or(0);
  std::array<std::byte, 6> mac;
  mac_store(mac.data(), macvlan_.nic);
  std::memcpy(grant.mac.data(), mac.data(), mac.size());
  grant.endpoint = sealed.endpoint;
  grant.max_frame = 1514;
  grant.uid = kUser;
  return grant;
}

GrantCounters SealedTest::counters(const Sealed& sealed) const {
  GrantCounters counters;
  EXPECT_EQ(grant_counters_read(maps_, sealed.slot, counters), 0);
  return counters;
}

void SealedTest::as_user(const std::function<void()>& attack) {
  EXPECT_EQ(run_as(kUser, attack), 0) << "the attack reported failures";
}

void SealedTest::attack_by(const Sealed& sealed, const std::vector<Bytes>& frames) const {
  as_user([&] {
    for (const Bytes& frame : frames) send_frame(sealed.data, frame);
    EXPECT_EQ(send_frame(sealed.data, last_from(sealed.endpoint)), 0);
  });
}

Bytes SealedTest::frame_from(std::uint8_t endpoint, unsigned type, std::size_t size) const {
  Bytes frame(std::max<std::size_t>(size, 32));
  mac_store(&frame[0], link::nic_of("v1"));
  mac_store(&frame[6], macvlan_.nic);
  store_be16(&frame[12], wire::kEthertype);
  frame[16] = static_cast<std::byte>(type);
  set_source(frame, type, endpoint);
  frame.resize(size);
  return frame;
}

Bytes SealedTest::last_from(std::uint8_t endpoint) const {
  return frame_from(endpoint, 43, kLastSize);
}

std::vector<Bytes> SealedTest::arrived(std::uint8_t endpoint) {
  const Bytes last = last_from(endpoint);
  std::vector<Bytes> frames;
  const bool ended = link::becomes_true([&] {
    while (auto frame = frame_take(peer_)) {
      if (*frame == last) return true;
      frames.push_back(std::move(*frame));
    }
    return false;
  });
  EXPECT_TRUE(ended) << "the last frame did not arrive";
  return frames;
}

void SealedTest::peer_send(const Bytes& frame) {
  ASSERT_EQ(send_frame(peer_, frame), 0);
}

Bytes SealedTest::frame_to(std::uint8_t endpoint, unsigned type, std::uint8_t flags) const {
  Bytes frame(64);
  mac_store(&frame[0], macvlan_.nic);
  mac_store(&frame[6], link::nic_of("v1"));
  store_be16(&frame[12], wire::kEthertype);
  frame[16] = static_cast<std::byte>(type);
  if (type == 42 || type == 45) {
    frame[15] = std::byte{flags};
    store_be32(&frame[28], wire::kPullMagic ^ endpoint);
  } else {
    frame[17] = frame[25] = std::byte{endpoint};
    frame[19] = std::byte{flags};
  }
  return frame;
}

std::vector<unsigned> SealedTest::types_in(const OwnFd& socket) {
  std::vector<unsigned> types;
  while (const auto frame = frame_take(socket)) types.push_back(std::to_integer<unsigned>((*frame)[16]));
  return types;
}

}  // namespace omx::broker
