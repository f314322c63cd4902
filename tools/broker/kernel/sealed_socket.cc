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

int memory_set(int fd, const SocketMemory& memory) {
  const int one = 1;
  if (memory.send_buffer > 0) link::send_buffer_set(fd, memory.send_buffer);
  if (memory.bypass_queue)
    if (const int error = option_set(fd, SOL_PACKET, PACKET_QDISC_BYPASS, one)) return error;
  if (!memory.ring) {
    if (memory.receive_buffer > 0) link::receive_buffer_set(fd, memory.receive_buffer);
    return 0;
  }
  if (const int error = link::PacketRing::prepare(fd)) return error;
  return link::PacketRing::request(fd, *memory.ring);
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

bool is_locked(int fd) {
  int locked = 0;
  socklen_t length = sizeof locked;
  return ::getsockopt(fd, SOL_SOCKET, SO_LOCK_FILTER, &locked, &length) == 0 && locked != 0;
}

Result<void> done(const char* step, int error) {
  if (error) return tl::unexpected(kernel_failure(step, error));
  return {};
}

}  // namespace

Result<OwnFd> packet_socket_open(const PrivateNetwork& network, const SocketMemory& memory) {
  OwnFd fd;
  int error = 0;
  const int failed = run_in(network, [&] {
    fd = link::packet_socket_new();
    if (!fd.open()) error = errno;
  });
  if (failed) error = failed;
  if (error) return tl::unexpected(kernel_failure("open a packet socket in the private network", error));
  if (const int none = memory_set(fd.get(), memory))
    return tl::unexpected(kernel_failure("give a packet socket its ring", none));
  return fd;
}

Result<std::uint64_t> socket_cookie(int fd) {
  std::uint64_t cookie = 0;
  socklen_t length = sizeof cookie;
  if (::getsockopt(fd, SOL_SOCKET, SO_COOKIE, &cookie, &length) < 0)
    return tl::unexpected(kernel_failure("read the cookie of a socket", errno));
  return cookie;
}

Result<void> packet_socket_lock(int fd, int receive_program) {
  const int one = 1;
  int error = option_set(fd, SOL_SOCKET, SO_ATTACH_BPF, receive_program);
  if (!error) error = option_set(fd, SOL_SOCKET, SO_LOCK_FILTER, one);
  return done("attach the receive program", error);
}

// The order matters. Without a program the socket would receive all frames once it is bound. The mark comes
// last, as it ends all other options.
Result<void> packet_socket_seal(int fd, std::uint32_t ifindex, std::uint32_t slot, Binding binding) {
  assert(slot < kSlots);
  if (!is_locked(fd)) return fail(link::kFailure, "a socket without a locked receive program is not sealed");
  auto result = done("bind a sealed socket", link::packet_socket_bind(fd, ifindex));
  if (result && binding == Binding::fixed)
    result = done("tie a sealed socket to its interface", group_found(fd));
  if (result) result = done("mark a sealed socket", option_set(fd, SOL_SOCKET, SO_MARK, kMarkMagic | slot));
  if (result && !seal_holds(fd))
    return fail(link::kFailure,
                "the seal of a socket does not hold, so it is not given to the user: the broker has left its "
                "cgroup; restart it");
  return result;
}

}  // namespace omx::broker
