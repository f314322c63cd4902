// SPDX-License-Identifier: BSD-3-Clause
#include "bench/floors/floor_raw.h"

#include <arpa/inet.h>
#include <net/if.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace omx::bench {

namespace {

// Few slots stay in the cache. A ping-pong needs one, and credits need a few.
constexpr std::uint32_t kSlots = 64;
constexpr int kSocketBuffer = 64 << 20;

template <class T>
bool set_option(int fd, int level, int option, const T& value) {
  return ::setsockopt(fd, level, option, &value, sizeof value) == 0;
}

void enlarge(int fd, int option_force, int option) {
  if (!set_option(fd, SOL_SOCKET, option_force, kSocketBuffer))
    set_option(fd, SOL_SOCKET, option, kSocketBuffer);
}

}  // namespace

RawSocket::RawSocket(const FloorOptions& options, bool with_ring) : interface_(options.interface) {
  const std::string& interface = interface_;
  fd_ = ::socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0);
  if (fd_ < 0) die(77, "opening a packet socket needs CAP_NET_RAW: {}", std::strerror(errno));
  ifreq request{};
  std::strncpy(request.ifr_name, interface.c_str(), sizeof request.ifr_name - 1);
  if (::ioctl(fd_, SIOCGIFMTU, &request) < 0) die(1, "interface {}: {}", interface, std::strerror(errno));
  mtu_ = static_cast<std::uint32_t>(request.ifr_mtu);
  if (::ioctl(fd_, SIOCGIFHWADDR, &request) < 0) die(1, "interface {}: {}", interface, std::strerror(errno));
  nic_ = mac_load(reinterpret_cast<const std::byte*>(request.ifr_hwaddr.sa_data));

  set_option(fd_, SOL_PACKET, PACKET_IGNORE_OUTGOING, 1);
  enlarge(fd_, SO_SNDBUFFORCE, SO_SNDBUF);
  enlarge(fd_, SO_RCVBUFFORCE, SO_RCVBUF);
  if (options.qdisc_bypass) set_option(fd_, SOL_PACKET, PACKET_QDISC_BYPASS, 1);
  if (with_ring) map_ring();

  sockaddr_ll address{};
  address.sll_family = AF_PACKET;
  address.sll_protocol = htons(kFloorEthertype);
  address.sll_ifindex = static_cast<int>(::if_nametoindex(interface.c_str()));
  if (::bind(fd_, reinterpret_cast<sockaddr*>(&address), sizeof address) < 0) {
    die(1, "cannot bind to {}: {}", interface, std::strerror(errno));
  }
}

RawSocket::~RawSocket() {
  if (ring_) ::munmap(ring_, mapped_bytes_);
  ::close(fd_);
}

void RawSocket::sleep(int milliseconds) const {
  pollfd frames{fd_, POLLIN, 0};
  if (::poll(&frames, 1, milliseconds) <= 0 || !(frames.revents & POLLERR)) return;
  int error = 0;
  socklen_t size = sizeof error;
  ::getsockopt(fd_, SOL_SOCKET, SO_ERROR, &error, &size);
  if (error) die(1, "interface {}: {}", interface_, std::strerror(error));
}

void RawSocket::map_ring() {
  // A slot has an odd number of cache lines. Otherwise slots would lie at equal offsets in their pages and
  // compete for the same cache lines.
  const std::size_t needed = TPACKET_ALIGN(TPACKET2_HDRLEN + 16) + 18 + mtu_;
  slot_bytes_ = ((needed + 63) / 64 | 1) * 64;
  std::size_t block_bytes = 64U << 10;
  while (block_bytes < slot_bytes_ * kSlots) block_bytes *= 2;
  tpacket_req request{};
  request.tp_block_size = static_cast<unsigned>(block_bytes);
  request.tp_block_nr = 1;
  request.tp_frame_size = static_cast<unsigned>(slot_bytes_);
  request.tp_frame_nr = static_cast<unsigned>(block_bytes / slot_bytes_);
  if (!set_option(fd_, SOL_PACKET, PACKET_VERSION, static_cast<int>(TPACKET_V2)) ||
      !set_option(fd_, SOL_PACKET, PACKET_RX_RING, request)) {
    die(1, "{}: no receive ring: {}", interface_, std::strerror(errno));
  }
  mapped_bytes_ = block_bytes;
  void* memory = ::mmap(nullptr, mapped_bytes_, PROT_READ | PROT_WRITE, MAP_SHARED, fd_, 0);
  if (memory == MAP_FAILED) die(1, "{}: cannot map the receive ring: {}", interface_, std::strerror(errno));
  ring_ = cursor_ = static_cast<std::byte*>(memory);
  end_ = ring_ + slot_bytes_ * request.tp_frame_nr;
}

FrameHeader RawSocket::header(NicId dst, Kind kind) const {
  FrameHeader h{};
  mac_store(h.dst.data(), dst);
  mac_store(h.src.data(), nic_);
  h.ethertype = htons(kFloorEthertype);
  h.kind = static_cast<std::uint8_t>(kind);
  return h;
}

void RawSocket::send_control(const FrameHeader& header) const {
  std::array<std::byte, kMinFrame> frame{};
  std::memcpy(frame.data(), &header, sizeof header);
  while (::send(fd_, frame.data(), frame.size(), 0) < 0 && must_retry("send")) {
  }
}

bool must_retry(const char* call) {
  if (errno == EAGAIN || errno == ENOBUFS || errno == EINTR) return true;
  die(1, "{}: {}", call, std::strerror(errno));
}

}  // namespace omx::bench
