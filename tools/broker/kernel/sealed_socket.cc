// SPDX-License-Identifier: BSD-3-Clause
#include "tools/broker/kernel/sealed_socket.h"

#include <linux/if_packet.h>
#include <sys/socket.h>

#include <cassert>
#include <cerrno>
#include <string>

#include "link/packet/packet_socket.h"
#include "netdev/open_failure.h"
#include "netdev/socket_buffer.h"
#include "tools/broker/kernel/grant_map.h"
#include "tools/broker/kernel/kernel_failure.h"
#include "tools/broker/kernel/seal.h"

namespace omx::broker {

namespace {

template <class Value>
int option_set(int fd, int level, int option, const Value& value) {
  return ::setsockopt(fd, level, option, &value, sizeof value) < 0 ? errno : 0;
}

int memory_set(int fd, const SealOptions& options) {
  if (options.send_buffer > 0) link::send_buffer_set(fd, options.send_buffer);
  if (!options.ring) {
    if (options.receive_buffer > 0) link::receive_buffer_set(fd, options.receive_buffer);
    return 0;
  }
  if (const int error = link::PacketRing::prepare(fd)) return error;
  return link::PacketRing::request(fd, *options.ring);
}

// A member of a fanout group can neither be bound again nor join another group. The group has no other
// member, so all frames go to this socket.
int group_found(int fd) {
  struct {
    std::uint16_t id = 0;
    std::uint16_t type = PACKET_FANOUT_LB | PACKET_FANOUT_FLAG_UNIQUEID;
  } group;
  return option_set(fd, SOL_PACKET, PACKET_FANOUT, group);
}

}  // namespace

Result<OwnFd> packet_socket_open(const PrivateNetwork& network) {
  OwnFd fd;
  int error = 0;
  const int failed = run_in(network, [&] {
    fd = link::packet_socket_new();
    if (!fd.open()) error = errno;
  });
  if (failed) error = failed;
  if (error) return tl::unexpected(kernel_failure("open a packet socket in the private network", error));
  return fd;
}

Result<std::uint64_t> socket_cookie(int fd) {
  std::uint64_t cookie = 0;
  socklen_t length = sizeof cookie;
  if (::getsockopt(fd, SOL_SOCKET, SO_COOKIE, &cookie, &length) < 0)
    return tl::unexpected(kernel_failure("read the cookie of a socket", errno));
  return cookie;
}

Result<void> packet_socket_seal(int fd, int receive_program, const SealOptions& options) {
  assert(options.slot < kSlots);
  const int one = 1;
  const std::uint32_t mark = kMarkMagic | options.slot;
  // The order matters. The program comes before the socket is bound, so that no other frame waits in it; the
  // mark comes last, as it ends all other options.
  int error = 0;
  const char* step = "";
  const auto next = [&](const char* name, auto&& work) {
    if (error) return;
    step = name;
    error = work();
  };
  next("give a sealed socket its ring", [&] { return memory_set(fd, options); });
  next("let frames skip the queue of the macvlan",
       [&] { return options.bypass_queue ? option_set(fd, SOL_PACKET, PACKET_QDISC_BYPASS, one) : 0; });
  next("attach the receive program",
       [&] { return option_set(fd, SOL_SOCKET, SO_ATTACH_BPF, receive_program); });
  next("lock the receive program", [&] { return option_set(fd, SOL_SOCKET, SO_LOCK_FILTER, one); });
  next("bind a sealed socket", [&] { return link::packet_socket_bind(fd, options.ifindex); });
  next("tie a sealed socket to its interface", [&] { return group_found(fd); });
  next("mark a sealed socket", [&] { return option_set(fd, SOL_SOCKET, SO_MARK, mark); });
  if (error) return tl::unexpected(kernel_failure(step, error));
  if (!seal_holds(fd))
    return fail(link::kFailure,
                "the seal of a socket does not hold, so it is not given to the user: the broker has left its "
                "cgroup; restart it");
  return {};
}

}  // namespace omx::broker
