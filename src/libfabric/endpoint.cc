// SPDX-License-Identifier: BSD-3-Clause
#include "libfabric/endpoint.h"

#include <algorithm>

#include "libfabric/domain.h"

namespace omx::fabric {

Endpoint::Endpoint(Domain& domain, const fi_info& info)
    : fid_ep{}, choices(info), bindings(domain), domain_(domain) {
  domain_.references.add();
}

Endpoint::~Endpoint() {
  domain_.references.drop();
}

int Endpoint::name_get(void* out, std::size_t* length) const {
  if (!length) return -FI_EINVAL;
  Address address = choices.address;
  address.nic = domain_.board().interface.nic;
  address.session = kAnySession;
  if (enabled()) {
    address.endpoint = runtime_->id();
    address.session = runtime_->session();
  }
  return address_write(address, domain_.address_format(), out, length);
}

void Endpoint::operation_free(Operation& op) {
  assert(op.regions.empty());
  op.all.unlink();
  op.hook.unlink();
  operations_.destroy(&op);
}

bool Endpoint::send_allowed_after_turn(runtime::EngineAccess& direct) {
  direct.turn();
  // Sends that wait only for receives do not count, because the peer decides in which order it posts them.
  const std::size_t waiting = direct.engine().awaiting_receives();
  return sends_ < choices.transmit_size + waiting;
}

std::size_t Endpoint::send_room() {
  if (runtime_endpoint().foreign()) return 0;
  runtime::EngineAccess direct(runtime_endpoint());
  direct.turn();
  return choices.transmit_size - std::min(sends_, choices.transmit_size);
}

}  // namespace omx::fabric
