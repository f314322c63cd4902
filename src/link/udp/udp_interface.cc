// SPDX-License-Identifier: BSD-3-Clause
#include "link/udp/udp_interface.h"

#include <net/if.h>

#include <cerrno>

namespace omx::link {

// Returns whether another interface has the index now. A renamed interface has kept the address.
bool UdpInterface::index_taken() const {
  char name[IF_NAMESIZE];
  if (!::if_indextoname(state_.index, name) || options_.interface == name) return false;
  const auto address = interface_address(name, state_.index, options_.family);
  return !address || address->ip != address_.ip;
}

bool UdpInterface::address_back() const {
  const auto address = interface_address(options_.interface, now_.index, options_.family);
  return address && address->ip == address_.ip;
}

bool UdpInterface::refresh() {
  receiver_.look_all();
  now_ = state_;
  outage_ = interface_look(receiver_.descriptor(), options_.interface, state_.index, index_taken(), 0, now_);
  if (outage_ == Outage::returned && !address_back()) outage_ = Outage::replaced;
  if (is_lost(outage_)) {
    state_.up = state_.running = false;
    return false;
  }
  state_ = now_;
  return state_.up && state_.running;
}

// Goes on with the interface that has the name now. Sockets are bound to the address, and work again when
// the address is back. Sockets of link-local addresses are bound to the index.
int UdpInterface::follow() {
  if (outage_ != Outage::returned) return EINVAL;
  if (wire::is_link_local(address_.ip)) return EOPNOTSUPP;
  state_ = now_;
  address_.ifindex = state_.index;
  outage_ = Outage::none;
  receiver_.group_join(address_);
  return 0;
}

}  // namespace omx::link
