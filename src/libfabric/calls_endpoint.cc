// SPDX-License-Identifier: BSD-3-Clause
#include "libfabric/calls_endpoint.h"

#include <rdma/fi_cm.h>

#include "libfabric/calls_atomic.h"
#include "libfabric/calls_collective.h"
#include "libfabric/calls_message.h"
#include "libfabric/calls_rma.h"
#include "libfabric/calls_tagged.h"
#include "libfabric/capabilities.h"
#include "libfabric/domain.h"
#include "libfabric/endpoint.h"
#include "libfabric/fence.h"
#include "libfabric/live_endpoint.h"
#include "libfabric/object_calls.h"
#include "libfabric/provider.h"
#include "libfabric/transfers.h"

namespace omx::fabric {

namespace {

int close(fid* object) {
  return fenced([&] {
    Endpoint& endpoint = endpoint_of(object);
    endpoint.close();
    delete &endpoint;
    return 0;
  });
}

int bind(fid* object, fid* other, std::uint64_t flags) {
  Endpoint& endpoint = endpoint_of(object);
  if (endpoint.enabled())
    return refuse(FI_LOG_EP_CTRL, FI_EOPBADSTATE, "fi_ep_bind: the endpoint is enabled already");
  return endpoint.bindings.bind(other, flags);
}

int enable(Endpoint& endpoint) {
  if (endpoint.enabled())
    return refuse(FI_LOG_EP_CTRL, FI_EOPBADSTATE, "fi_enable: the endpoint is enabled already");
  return endpoint.enable();
}

// Returns the default flags of one direction. nullptr: `named` names none.
std::uint64_t* flags_of(Endpoint& endpoint, std::uint64_t named) {
  return named & FI_TRANSMIT ? &endpoint.choices.transmit_flags
         : named & FI_RECV   ? &endpoint.choices.receive_flags
                             : nullptr;
}

int control(fid* object, int command, void* argument) {
  return fenced([&] {
    Endpoint& endpoint = endpoint_of(object);
    auto* flags = static_cast<std::uint64_t*>(argument);
    switch (command) {
      case FI_ENABLE:
        return enable(endpoint);
      case FI_GETOPSFLAG: {
        const std::uint64_t* const set = flags_of(endpoint, *flags);
        if (!set) return -FI_EINVAL;
        *flags = *set;
        return 0;
      }
      case FI_SETOPSFLAG: {
        std::uint64_t* const set = flags_of(endpoint, *flags);
        if (!set) return -FI_EINVAL;
        *set = *flags & ~(*flags & FI_TRANSMIT ? FI_TRANSMIT : FI_RECV);
        return 0;
      }
      default:
        return -FI_ENOSYS;
    }
  });
}

ssize_t cancel(fid_t object, void* context) {
  return endpoint_of(object).transfers().cancel(context);
}

int get_option(fid_t object, int level, int name, void* value, std::size_t* length) {
  return level == FI_OPT_ENDPOINT ? endpoint_of(object).choices.option_get(name, value, length)
                                  : -FI_ENOPROTOOPT;
}

int set_option(fid_t object, int level, int name, const void* value, std::size_t length) {
  return level == FI_OPT_ENDPOINT ? endpoint_of(object).choices.option_set(name, value, length)
                                  : -FI_ENOPROTOOPT;
}

int no_transmit_context(fid_ep*, int, fi_tx_attr*, fid_ep**, void*) {
  return -FI_ENOSYS;
}

int no_receive_context(fid_ep*, int, fi_rx_attr*, fid_ep**, void*) {
  return -FI_ENOSYS;
}

ssize_t receive_room(fid_ep* endpoint) {
  return endpoint_of(endpoint).enabled() ? static_cast<ssize_t>(kQueueSizeMost) : -FI_EOPBADSTATE;
}

ssize_t transmit_room(fid_ep* endpoint) {
  Endpoint& e = endpoint_of(endpoint);
  return e.enabled() ? static_cast<ssize_t>(e.send_room()) : -FI_EOPBADSTATE;
}

int name_set(fid_t object, void* address, std::size_t length) {
  Endpoint& endpoint = endpoint_of(object);
  if (endpoint.enabled())
    return refuse(FI_LOG_EP_CTRL, FI_EOPBADSTATE, "fi_setname: the endpoint is enabled already");
  return endpoint.choices.name_set(endpoint.domain(), address, length);
}

int name_get(fid_t object, void* address, std::size_t* length) {
  return fenced([&] { return endpoint_of(object).name_get(address, length); });
}

int no_peer(fid_ep*, void*, std::size_t*) {
  return -FI_ENOSYS;
}
int no_connect(fid_ep*, const void*, const void*, std::size_t) {
  return -FI_ENOSYS;
}
int no_listen(fid_pep*) {
  return -FI_ENOSYS;
}
int no_accept(fid_ep*, const void*, std::size_t) {
  return -FI_ENOSYS;
}
int no_reject(fid_pep*, fid_t, const void*, std::size_t) {
  return -FI_ENOSYS;
}
int no_shutdown(fid_ep*, std::uint64_t) {
  return -FI_ENOSYS;
}
int no_join(fid_ep*, const void*, std::uint64_t, fid_mc**, void*) {
  return -FI_ENOSYS;
}

const fi_ops kOps = closing_ops(close, bind, control);
const fi_ops_ep kEndpointOps = {
    sizeof(fi_ops_ep),  cancel,       get_option,    set_option, no_transmit_context,
    no_receive_context, receive_room, transmit_room,
};
const fi_ops_cm kNameOps = {
    sizeof(fi_ops_cm), name_set,  name_get,  no_peer,     no_connect,
    no_listen,         no_accept, no_reject, no_shutdown, no_join,
};

}  // namespace

int endpoint_open(fid_domain* object, fi_info* info, fid_ep** opened, void* context) {
  return fenced([&] {
    if (!info || !info->ep_attr)
      return refuse(FI_LOG_EP_CTRL, FI_EINVAL, "fi_endpoint: the fi_info has no ep_attr");
    if (info->ep_attr->type != FI_EP_RDM && info->ep_attr->type != FI_EP_UNSPEC)
      return refuse(FI_LOG_EP_CTRL, FI_EINVAL, "fi_endpoint: endpoints are of the type FI_EP_RDM");
    if (info->ep_attr->rx_ctx_cnt == FI_SHARED_CONTEXT || info->ep_attr->tx_ctx_cnt == FI_SHARED_CONTEXT)
      return refuse(FI_LOG_EP_CTRL, FI_ENOSYS, "fi_endpoint: endpoints do not share contexts");
    auto* endpoint = new LiveEndpoint(domain_of(object), *info);
    endpoint->fid = {FI_CLASS_EP, context, table(kOps)};
    endpoint->ops = table(kEndpointOps);
    endpoint->cm = table(kNameOps);
    endpoint->msg = table(kMessageCalls);
    endpoint->tagged = table(kTaggedCalls);
    endpoint->rma = table(kRmaCalls);
    endpoint->atomic = table(kAtomicCalls);
    endpoint->collective = table(kCollectiveCalls);
    *opened = endpoint;
    return 0;
  });
}

}  // namespace omx::fabric
