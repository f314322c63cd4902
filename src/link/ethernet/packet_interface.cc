// SPDX-License-Identifier: BSD-3-Clause
#include "link/ethernet/packet_interface.h"

#include <linux/if_packet.h>
#include <sys/socket.h>

#include <cerrno>
#include <utility>

#include "link/packet/packet_socket.h"

namespace omx::link {

bool PacketInterface::refresh() {
  const int data = socket_.descriptor();
  tpacket_stats statistics{};
  socklen_t length = sizeof statistics;
  // Reading the statistics sets them to zero.
  if (::getsockopt(data, SOL_PACKET, PACKET_STATISTICS, &statistics, &length) == 0) {
    counters_.ring_drops += statistics.tp_drops;
  }
  for (const int fd : {data, bulk_.descriptor(), wakeup_.descriptor()}) packet_socket_clear_error(fd);

  InterfaceState& state = socket_.state();
  now_ = state;
  if (socket_.granted() && socket_.granted()->withdrawn()) {
    outage_ = Outage::withdrawn;
    state.up = state.running = false;
    return false;
  }
  // The kernel unbinds the sockets of an interface that is removed. The interface may come back under its old
  // index, as from a container's network. Another interface may also get that index.
  const bool removed = !packet_socket_bound(data, state.index);
  outage_ = interface_look(data, socket_.options().interface, state.index, removed, known_, now_);
  if (is_lost(outage_)) {
    state.up = state.running = false;
    return false;
  }
  state = now_;
  if (ring_.group_wrong())
    ring_.renew(true);
  else
    ring_.fit();
  bulk_.fit(state.mtu);
  return state.up && state.running && ring_.mapped();
}

// Steps that may fail come first, so that a link that stays as it is can try again.
int PacketInterface::follow() {
  if (outage_ != Outage::returned) return EINVAL;
  const InterfaceState former = std::exchange(socket_.state(), now_);  // the filter names the index
  DataSocket::Fresh fresh;
  if (const int error = socket_.own_make(fresh)) {
    socket_.state() = former;
    return error;
  }
  if (socket_.shared()) ring_.member_leave();
  wakeup_.close();
  bulk_.reset();
  ring_.forget();
  socket_.own_set(std::move(fresh));
  outage_ = Outage::none;
  socket_.licence_renew();
  ring_.enter();
  return 0;
}

}  // namespace omx::link
