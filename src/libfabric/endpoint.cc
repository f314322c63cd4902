// SPDX-License-Identifier: BSD-3-Clause
#include "libfabric/endpoint.h"

#include <fmt/format.h>

#include <sched.h>

#include <algorithm>
#include <cstring>

#include "libfabric/decline.h"
#include "libfabric/event_queue.h"
#include "libfabric/info.h"
#include "libfabric/provider.h"

namespace omx::fabric {

namespace {

constexpr std::uint64_t kTransmitEvents = FI_SEND | FI_READ | FI_WRITE;
constexpr std::uint64_t kCounterFlags = kDirections;

int error_of(int mx_code) {
  constexpr int kMxNoPermission = 7, kMxNoResources = 15, kMxBusy = 20;
  switch (mx_code) {
    case kMxNoPermission:
      return -FI_EACCES;
    case kMxNoResources:
      return -FI_ENOMEM;
    case kMxBusy:
      return -FI_EADDRINUSE;
    default:
      return -FI_ENODEV;
  }
}

}  // namespace

Endpoint::Endpoint(Domain& domain, const fi_info& info)
    : fid_ep{},
      domain_(domain),
      caps_(info.caps ? info.caps : kCapsUnasked),
      transmit_flags_(info.tx_attr ? info.tx_attr->op_flags : 0),
      receive_flags_(info.rx_attr ? info.rx_attr->op_flags : 0),
      transmit_size_(info.tx_attr && info.tx_attr->size ? info.tx_attr->size : parameters().tx_size) {
  domain_.references.add();
  if (const auto source = address_read(info.src_addr, info.src_addrlen, info.addr_format, true))
    wanted_ = *source;
}

Endpoint::~Endpoint() {
  if (addresses_) addresses_->references.drop();
  if (transmit_queue_) transmit_queue_->references.drop();
  if (receive_queue_) receive_queue_->references.drop();
  for (Counter* counter : counters_)
    if (counter) counter->references.drop();
  if (event_queue_) static_cast<EventQueue*>(event_queue_)->references.drop();
  domain_.references.drop();
}

int Endpoint::bind(fid_t object, std::uint64_t flags) {
  constexpr fi_log_subsys kLog = FI_LOG_EP_CTRL;
  if (enabled()) return refuse(kLog, FI_EOPBADSTATE, "fi_ep_bind: the endpoint is enabled already");
  switch (object->fclass) {
    case FI_CLASS_AV: {
      if (addresses_) return refuse(kLog, FI_EINVAL, "fi_ep_bind: an address vector is bound already");
      addresses_ = static_cast<AddressVector*>(reinterpret_cast<fid_av*>(object));
      if (&addresses_->domain() != &domain_) {
        addresses_ = nullptr;
        return refuse(kLog, FI_EINVAL, "fi_ep_bind: the address vector is another domain's");
      }
      addresses_->references.add();
      return 0;
    }
    case FI_CLASS_CQ: {
      auto* queue = static_cast<CompletionQueue*>(reinterpret_cast<fid_cq*>(object));
      if (flags & ~(FI_TRANSMIT | FI_RECV | FI_SELECTIVE_COMPLETION))
        return refuse(kLog, FI_EBADFLAGS, "fi_ep_bind: a flag for the completion queue is not known");
      if (!(flags & (FI_TRANSMIT | FI_RECV)) || &queue->domain() != &domain_)
        return refuse(
            kLog, FI_EINVAL,
            "fi_ep_bind: a completion queue of the same domain is bound with FI_TRANSMIT or FI_RECV");
      if (((flags & FI_TRANSMIT) && transmit_queue_) || ((flags & FI_RECV) && receive_queue_))
        return refuse(kLog, FI_EINVAL, "fi_ep_bind: a completion queue is bound there already");
      const bool selective = flags & FI_SELECTIVE_COMPLETION;
      if (flags & FI_TRANSMIT) {
        transmit_queue_ = queue;
        transmit_selective_ = selective;
        queue->references.add();
      }
      if (flags & FI_RECV) {
        receive_queue_ = queue;
        receive_selective_ = selective;
        queue->references.add();
      }
      return 0;
    }
    case FI_CLASS_CNTR: {
      auto* counter = static_cast<Counter*>(reinterpret_cast<fid_cntr*>(object));
      if ((flags & ~kCounterFlags) || flags == 0)
        return refuse(kLog, FI_EBADFLAGS, "fi_ep_bind: a counter needs flags that say what it counts");
      constexpr std::uint64_t kFlags[kCounters] = {FI_SEND,  FI_RECV,        FI_READ,
                                                   FI_WRITE, FI_REMOTE_READ, FI_REMOTE_WRITE};
      for (std::size_t i = 0; i < kCounters; i++)
        if ((flags & kFlags[i]) && counters_[i])
          return refuse(kLog, FI_EINVAL, "fi_ep_bind: another counter counts that already");
      for (std::size_t i = 0; i < kCounters; i++) {
        if (!(flags & kFlags[i])) continue;
        counters_[i] = counter;
        counter->references.add();
      }
      return 0;
    }
    case FI_CLASS_EQ:
      if (event_queue_) return refuse(kLog, FI_EINVAL, "fi_ep_bind: an event queue is bound already");
      event_queue_ = reinterpret_cast<fid_eq*>(object);
      static_cast<EventQueue*>(event_queue_)->references.add();
      return 0;
    default:
      return refuse(kLog, FI_EINVAL, "fi_ep_bind: endpoints take address vectors, queues and counters");
  }
}

int Endpoint::enable() {
  constexpr fi_log_subsys kLog = FI_LOG_EP_CTRL;
  if (enabled()) return refuse(kLog, FI_EOPBADSTATE, "fi_enable: the endpoint is enabled already");
  if (!addresses_) return refuse(kLog, FI_ENOAV, "fi_enable: no address vector is bound");
  if ((caps_ & kTransmitEvents) && !transmit_queue_ && !counters_[kCountSend] && !counters_[kCountWrite] &&
      !counters_[kCountRead])
    return refuse(
        kLog, FI_ENOCQ,
        "fi_enable: the endpoint may send, read or write, and neither a completion queue (FI_TRANSMIT) "
        "nor a counter is bound");
  if ((caps_ & FI_RECV) && !receive_queue_ && !counters_[kCountReceive] && (caps_ & (FI_MSG | FI_TAGGED)))
    return refuse(
        kLog, FI_ENOCQ,
        "fi_enable: the endpoint may receive, and neither a completion queue (FI_RECV) nor a counter is "
        "bound; ask for FI_SEND beside FI_MSG or FI_TAGGED if it only sends");
  runtime::OpenOptions options;
  options.board = domain_.board().number;
  options.key = kKey;
  options.all_boards = domain_.all_boards();
  if (wanted_.endpoint != kAnyId) options.endpoint = wanted_.endpoint;
  const auto opened = domain_.process().open(options);
  if (!opened) {
    const int error = error_of(opened.error().mx_code);
    const bool taken = error == -FI_EADDRINUSE && wanted_.endpoint != kAnyId;
    decline(opened.error().message + (taken ? "; start the program with another port (a port stands for an "
                                              "endpoint), or without one"
                                            : ""),
            Caller::names_us);
    return error;
  }
  endpoint_ = *opened;
  runtime::sink_set(*endpoint_, this);
  bool started = false;
  {
    Direct direct(*endpoint_);
    started = service_start(direct.engine(), direct.now());
  }
  domain_.endpoint_add(*this);
  if (!started) return -FI_ENOMEM;
  info(FI_LOG_EP_CTRL, fmt::format("endpoint {} on {} is {}", endpoint_->id(), domain_.board().interface.name,
                                   address_text({domain_.board().interface.nic, endpoint_->id(), 0})));
  return 0;
}

void Endpoint::close() {
  if (!enabled()) return;
  domain_.endpoint_remove(*this);
  while (waiting_.load(std::memory_order_acquire) > 0) {
    endpoint_->wakeup();
    ::sched_yield();
  }
  if (endpoint_->foreign()) return operations_drop();  // the endpoint is the parent's
  connections_await();
  {
    Direct direct(*endpoint_);
    closing_ = true;
    // Messages that got no connection have nobody to go to. Nothing is reported from now on.
    for (auto& peer : peers_)
      if (peer) peer_fail(direct.engine(), direct.now(), *peer, protocol::Status::aborted);
    for (auto& [context, message] : claimed_) direct.engine().discard(direct.now(), message);
    claimed_.clear();
  }
  endpoint_->end_background();
  domain_.process().close(endpoint_);  // lingers until what was sent is acknowledged, or nobody answers
  endpoint_ = nullptr;
  operations_drop();
}

void Endpoint::operations_drop() {
  while (Operation* op = all_.front()) {
    service_release(*op);
    operation_free(*op);
  }
}

// What was injected shall arrive, even if the peer has not answered yet.
void Endpoint::connections_await() {
  const auto none_waiting = [](void* self) {
    const auto& peers = static_cast<Endpoint*>(self)->peers_;
    return std::all_of(peers.begin(), peers.end(), [](const auto& p) { return !p || p->waiting.empty(); });
  };
  runtime::wait_until(*endpoint_, none_waiting, this, domain_.process().settings().close_linger_ms);
}

bool Endpoint::poll(bool look) {
  if (endpoint_->foreign()) return false;
  Direct direct(*endpoint_);
  return direct.poll(look);
}

std::size_t Endpoint::send_room() {
  if (endpoint_->foreign()) return 0;
  Direct direct(*endpoint_);
  direct.turn();
  return transmit_size_ - std::min(sends_, transmit_size_);
}

int Endpoint::set_option(int name, const void* value, std::size_t length) {
  if (name != FI_OPT_MIN_MULTI_RECV)
    return refuse(FI_LOG_EP_CTRL, FI_ENOPROTOOPT, fmt::format("fi_setopt: option {} is not known", name));
  if (length != sizeof(std::size_t))
    return refuse(FI_LOG_EP_CTRL, FI_EINVAL, "fi_setopt: FI_OPT_MIN_MULTI_RECV is a size_t");
  std::size_t least = 0;
  std::memcpy(&least, value, sizeof least);
  if (least > kMessageMost)
    return refuse(FI_LOG_EP_CTRL, FI_EINVAL,
                  "fi_setopt: no message is as long as that FI_OPT_MIN_MULTI_RECV");
  least_ = std::max<std::size_t>(least, 1);
  return 0;
}

int Endpoint::get_option(int name, void* value, std::size_t* length) {
  if (name != FI_OPT_MIN_MULTI_RECV) return -FI_ENOPROTOOPT;
  if (*length < sizeof least_) return -FI_ETOOSMALL;
  std::memcpy(value, &least_, sizeof least_);
  *length = sizeof least_;
  return 0;
}

int Endpoint::name_get(void* out, std::size_t* length) {
  if (!length) return -FI_EINVAL;
  Address address = wanted_;
  address.nic = domain_.board().interface.nic;
  address.session = kAnySession;
  if (enabled()) {
    address.endpoint = endpoint_->id();
    address.session = endpoint_->session();
  }
  return address_write(address, domain_.address_format(), out, length);
}

int Endpoint::name_set(const void* in, std::size_t length) {
  if (enabled()) return refuse(FI_LOG_EP_CTRL, FI_EOPBADSTATE, "fi_setname: the endpoint is enabled already");
  const auto address = address_read(in, length, domain_.address_format(), true);
  if (!address) return refuse(FI_LOG_EP_CTRL, FI_EINVAL, "fi_setname: " + address.error().why);
  if (address->nic != 0 && address->nic != domain_.board().interface.nic)
    return refuse(FI_LOG_EP_CTRL, FI_EINVAL, "fi_setname: it is an address of another interface");
  wanted_ = *address;
  return 0;
}

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
  return endpoint_of(object).bind(other, flags);
}

int control(fid* object, int command, void* argument) {
  return fenced([&] {
    Endpoint& endpoint = endpoint_of(object);
    auto* flags = static_cast<std::uint64_t*>(argument);
    switch (command) {
      case FI_ENABLE:
        return endpoint.enable();
      case FI_GETOPSFLAG:
        if (*flags & FI_TRANSMIT)
          *flags = endpoint.transmit_flags();
        else if (*flags & FI_RECV)
          *flags = endpoint.receive_flags();
        else
          return -FI_EINVAL;
        return 0;
      case FI_SETOPSFLAG:
        if (*flags & FI_TRANSMIT)
          endpoint.transmit_flags_set(*flags & ~FI_TRANSMIT);
        else if (*flags & FI_RECV)
          endpoint.receive_flags_set(*flags & ~FI_RECV);
        else
          return -FI_EINVAL;
        return 0;
      default:
        return -FI_ENOSYS;
    }
  });
}

ssize_t cancel(fid_t object, void* context) {
  return fenced([&] { return endpoint_of(object).cancel(context); });
}

int get_option(fid_t object, int level, int name, void* value, std::size_t* length) {
  return level == FI_OPT_ENDPOINT ? endpoint_of(object).get_option(name, value, length) : -FI_ENOPROTOOPT;
}

int set_option(fid_t object, int level, int name, const void* value, std::size_t length) {
  return level == FI_OPT_ENDPOINT ? endpoint_of(object).set_option(name, value, length) : -FI_ENOPROTOOPT;
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
  return endpoint_of(object).name_set(address, length);
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
    auto* endpoint = new Endpoint(domain_of(object), *info);
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
