// SPDX-License-Identifier: BSD-3-Clause
#include "tools/host/arrivals.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "base/affinity.h"
#include "base/own_fd.h"
#include "link/packet/packet_filter.h"
#include "netdev/open_failure.h"
#include "netdev/socket_buffer.h"
#include "tools/capture/capture_filter.h"
#include "tools/signals.h"
#include "wire/codec.h"

namespace omx::tools {

namespace {

using Clock = std::chrono::steady_clock;

// Bytes that are read of each packet: a VLAN tag, IPv4 options at their longest, and as much of a frame as
// names its endpoint.
constexpr std::uint32_t kLook = 14 + 4 + 60 + 8 + 32;
constexpr std::size_t kTypeAt = 12;
constexpr std::size_t kMac = 14, kIpv6 = 40, kUdp = 8;
constexpr std::size_t kDecodable = 32;
constexpr int kBufferBytes = 8 << 20;
constexpr std::size_t kMembersMost = 256;  // members of a fan-out group before Linux 5.12

std::uint16_t half_at(std::span<const std::byte> bytes, std::size_t at) {
  return static_cast<std::uint16_t>(std::to_integer<unsigned>(bytes[at]) << 8 |
                                    std::to_integer<unsigned>(bytes[at + 1]));
}

// Returns what a UDP datagram holds, or nothing if the packet is none.
std::span<const std::byte> payload_of(std::span<const std::byte> packet) {
  const std::uint16_t type = half_at(packet, kTypeAt);
  std::size_t header = 0;
  if (type == ETH_P_IP)
    header = (std::to_integer<std::size_t>(packet[kMac]) & 0xf) * 4;
  else if (type == ETH_P_IPV6)
    header = kIpv6;
  else
    return {};
  return packet.subspan(std::min(packet.size(), kMac + header + kUdp));
}

class Watch {
 public:
  explicit Watch(const link::Interface& interface) : interface_(interface) {
    found_.interface = interface.name;
  }

  // The kernel numbers the members of a fan-out group in the order in which they join. Until all have joined,
  // a member would get frames of other processors, so its filter first refuses everything.
  Result<void> open(std::uint16_t udp_port) {
    const std::size_t count = arrival_sockets(processors_online(), processor_numbers());
    if (count > kMembersMost)
      return fail(link::kFailure,
                  fmt::format("{} processors are too many to watch; {} are possible", count, kMembersMost));
    const link::FilterProgram nothing = {BPF_STMT(BPF_RET | BPF_K, 0)};
    std::uint32_t group = (PACKET_FANOUT_CPU | PACKET_FANOUT_FLAG_UNIQUEID) << 16;
    for (std::size_t i = 0; i < count; i++) {
      OwnFd fd(::socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
      if (!fd.open()) return refused(errno);
      if (link::receive_buffer_set(fd.get(), kBufferBytes) < 2 * kBufferBytes) found_.small_buffers = true;
      if (const int error = link::packet_filter_attach(fd.get(), nothing)) return refused(error);
      sockaddr_ll address{};
      address.sll_family = AF_PACKET;
      address.sll_protocol = htons(ETH_P_ALL);
      address.sll_ifindex = static_cast<int>(interface_.index);
      if (::bind(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) < 0)
        return refused(errno);
      if (::setsockopt(fd.get(), SOL_PACKET, PACKET_FANOUT, &group, sizeof group) < 0) return refused(errno);
      socklen_t size = sizeof group;
      if (::getsockopt(fd.get(), SOL_PACKET, PACKET_FANOUT, &group, &size) < 0) return refused(errno);
      sockets_.push_back(std::move(fd));
    }
    const link::FilterProgram filter = capture_filter_build({kLook, true, udp_port, true});
    for (const OwnFd& fd : sockets_)
      if (const int error = link::packet_filter_attach(fd.get(), filter)) return refused(error);
    return {};
  }

  Arrivals run(std::chrono::seconds duration) {
    const auto end = Clock::now() + duration;
    std::vector<pollfd> waits;
    for (const OwnFd& fd : sockets_) waits.push_back({fd.get(), POLLIN, 0});
    const OwnFd ended = signals_take();
    waits.push_back({ended.get(), POLLIN, 0});
    for (;;) {
      const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - Clock::now()).count();
      if (left <= 0 || ::poll(waits.data(), waits.size(), static_cast<int>(left)) < 0) break;
      for (std::size_t cpu = 0; cpu < sockets_.size(); cpu++)
        if (waits[cpu].revents) take(cpu);
      if (waits.back().revents) break;
    }
    for (const OwnFd& fd : sockets_) found_.missed += dropped(fd);
    return std::move(found_);
  }

 private:
  tl::unexpected<Failure> refused(int error) const {
    const std::string what = "packet sockets on " + interface_.name;
    if (error == EPERM)
      return fail(link::kNoPermission,
                  fmt::format("{} need the capability CAP_NET_RAW: run as root, or leave out --watch", what));
    return tl::unexpected(link::open_failure(what, error));
  }

  static std::uint64_t dropped(const OwnFd& fd) {
    tpacket_stats statistics{};
    socklen_t length = sizeof statistics;
    if (::getsockopt(fd.get(), SOL_PACKET, PACKET_STATISTICS, &statistics, &length) < 0) return 0;
    return statistics.tp_drops;
  }

  // Reads at most 1,024 packets, so that the caller can look at the time.
  void take(std::size_t cpu) {
    std::array<std::byte, kLook> bytes;
    for (unsigned i = 0; i < 1024; i++) {
      const ssize_t n = ::recv(sockets_[cpu].get(), bytes.data(), bytes.size(), 0);
      if (n < 0) return;
      const int endpoint = arrival_endpoint({bytes.data(), static_cast<std::size_t>(n)});
      if (endpoint < 0) continue;
      auto& counts = found_.endpoints[endpoint];
      counts.resize(sockets_.size());
      counts[cpu]++;
    }
  }

  const link::Interface& interface_;
  std::vector<OwnFd> sockets_;  // one per processor
  Arrivals found_;
};

}  // namespace

std::size_t arrival_sockets(const std::vector<int>& online, int numbers) {
  constexpr int kGroupMost = 256;
  return static_cast<std::size_t>(numbers <= kGroupMost || online.empty() ? numbers : online.back() + 1);
}

int arrival_endpoint(std::span<const std::byte> packet) {
  if (packet.size() < kMac + kUdp) return -1;
  std::span<const std::byte> frame = packet;
  const std::uint16_t type = half_at(packet, kTypeAt);
  if (type == ETH_P_8021Q || type == ETH_P_8021AD)
    frame = packet.subspan(4);  // the offsets below are those of an untagged frame
  else if (type != wire::kEthertype)
    frame = payload_of(packet);
  if (frame.size() < kDecodable || half_at(frame, kTypeAt) != wire::kEthertype) return -1;
  return wire::destination_endpoint(frame);
}

std::string arrivals_text(const Arrivals& arrivals) {
  std::string text = fmt::format("{}: frames by the processor that received them{}\n", arrivals.interface,
                                 arrivals.endpoints.empty() ? ": none came for any endpoint" : "");
  for (const auto& [endpoint, counts] : arrivals.endpoints) {
    text += fmt::format("  endpoint {}: ", endpoint);
    const char* before = "";
    for (std::size_t cpu = 0; cpu < counts.size(); cpu++) {
      if (counts[cpu] == 0) continue;
      text += fmt::format("{}{} on processor {}", before, counts[cpu], cpu);
      before = ", ";
    }
    text += '\n';
  }
  if (arrivals.missed)
    text += fmt::format(
        "  {} more came too fast to be counted{}\n", arrivals.missed,
        arrivals.small_buffers ? "; larger buffers need CAP_NET_ADMIN, or a larger net.core.rmem_max" : "");
  return text;
}

Result<Arrivals> arrivals_watch(const link::Interface& interface, std::uint16_t udp_port,
                                std::chrono::seconds duration) {
  Watch watch(interface);
  if (auto opened = watch.open(udp_port); !opened) return tl::unexpected(opened.error());
  return watch.run(duration);
}

}  // namespace omx::tools
