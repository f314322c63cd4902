// SPDX-License-Identifier: BSD-3-Clause
#include "link/ethernet/data_socket.h"

#include <cassert>
#include <cerrno>

#include "base/log.h"
#include "link/fanout/fanout_meeting.h"
#include "link/packet/packet_socket.h"
#include "netdev/socket_buffer.h"

namespace omx::link {

int DataSocket::ready(int fd, const FilterProgram& filter) {
  // PACKET_QDISC_BYPASS saved 20 of 1,250 ns on veth. It is not used because with it frames bypass traffic
  // shaping, and are dropped instead of queued when the driver's ring is full.
  send_buffer_set(fd, kSocketBuffer);
  receive_buffer_set(fd, kSocketBuffer);
  const int error = packet_filter_attach(fd, filter);
  return error ? error : PacketRing::prepare(fd);
}

FilterProgram DataSocket::filter(FrameClass frames, bool shared) const {
  FilterRule rule;
  rule.endpoint = options_.endpoint;
  rule.ifindex = state_.index;
  rule.board_frames = options_.board_frames;
  rule.frames = frames;
  rule.closed_ones = others_.has_value() || shared;
  if (others_ && !shared) rule.others = *others_;
  return packet_filter_build(rule);
}

int DataSocket::filter_attach(FrameClass frames) const {
  if (granted()) {
    granted()->take(GrantedSockets::Socket::data, frames);
    return 0;
  }
  return packet_filter_attach(descriptor(), filter(frames, shared()));
}

int DataSocket::own_make(Fresh& fresh) const {
  if (granted()) {
    auto data = granted()->data();
    if (!data) {
      log(LogLevel::info, "{}", data.error().message);
      return EAGAIN;
    }
    fresh = {std::move(data->socket), data->ring};
    return 0;
  }
  fresh.socket = packet_socket_new();
  const int fd = fresh.socket.get();
  if (!fresh.socket.open()) return errno;
  if (const int error = ready(fd, filter(FrameClass::all, false))) return error;
  return packet_socket_bind(fd, state_.index);
}

void DataSocket::own_set(Fresh fresh) {
  assert(!shared());
  assert(fresh.socket.open());
  fd_ = std::move(fresh.socket);
  granted_ring_ = fresh.ring;
  replacements_++;
}

// Takes a licence for a hook again. If other endpoints took all licences meanwhile, this one exceeds the
// interface's number of hooks.
void DataSocket::licence_renew() {
  if (granted()) return;
  licence_ = hook_licence(state_.index, options_.own_sockets);
}

}  // namespace omx::link
