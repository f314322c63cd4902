// SPDX-License-Identifier: BSD-3-Clause
#include "libfabric/bindings.h"

#include "libfabric/address_vector.h"
#include "libfabric/capabilities.h"
#include "libfabric/completion_queue.h"
#include "libfabric/counter.h"
#include "libfabric/domain.h"
#include "libfabric/event_queue.h"
#include "libfabric/provider.h"

namespace omx::fabric {

namespace {

constexpr fi_log_subsys kLog = FI_LOG_EP_CTRL;
constexpr std::uint64_t kTransmitEvents = FI_SEND | FI_READ | FI_WRITE;
constexpr std::uint64_t kCounterFlags = kDirections;

}  // namespace

Bindings::~Bindings() {
  if (addresses_) addresses_->references.drop();
  if (transmit_.queue) transmit_.queue->references.drop();
  if (receive_.queue) receive_.queue->references.drop();
  for (Counter* counter : counters_)
    if (counter) counter->references.drop();
  if (event_queue_) event_queue_->references.drop();
}

int Bindings::bind(fid_t object, std::uint64_t flags) {
  switch (object->fclass) {
    case FI_CLASS_AV:
      return bind_vector(*static_cast<AddressVector*>(reinterpret_cast<fid_av*>(object)));
    case FI_CLASS_CQ:
      return bind_queue(*static_cast<CompletionQueue*>(reinterpret_cast<fid_cq*>(object)), flags);
    case FI_CLASS_CNTR:
      return bind_counter(*static_cast<Counter*>(reinterpret_cast<fid_cntr*>(object)), flags);
    case FI_CLASS_EQ:
      return bind_events(*static_cast<EventQueue*>(reinterpret_cast<fid_eq*>(object)));
    default:
      return refuse(kLog, FI_EINVAL, "fi_ep_bind: endpoints take address vectors, queues and counters");
  }
}

int Bindings::bind_vector(AddressVector& vector) {
  if (addresses_) return refuse(kLog, FI_EINVAL, "fi_ep_bind: an address vector is bound already");
  if (&vector.domain() != &domain_)
    return refuse(kLog, FI_EINVAL, "fi_ep_bind: the address vector is another domain's");
  addresses_ = &vector;
  vector.references.add();
  return 0;
}

int Bindings::bind_queue(CompletionQueue& queue, std::uint64_t flags) {
  if (flags & ~(FI_TRANSMIT | FI_RECV | FI_SELECTIVE_COMPLETION))
    return refuse(kLog, FI_EBADFLAGS, "fi_ep_bind: a flag for the completion queue is not known");
  if (!(flags & (FI_TRANSMIT | FI_RECV)) || &queue.domain() != &domain_)
    return refuse(kLog, FI_EINVAL,
                  "fi_ep_bind: a completion queue of the same domain is bound with FI_TRANSMIT or FI_RECV");
  if (((flags & FI_TRANSMIT) && transmit_.queue) || ((flags & FI_RECV) && receive_.queue))
    return refuse(kLog, FI_EINVAL, "fi_ep_bind: a completion queue is bound there already");
  const bool selective = flags & FI_SELECTIVE_COMPLETION;
  if (flags & FI_TRANSMIT) {
    transmit_ = {&queue, selective};
    queue.references.add();
  }
  if (flags & FI_RECV) {
    receive_ = {&queue, selective};
    queue.references.add();
  }
  return 0;
}

int Bindings::bind_counter(Counter& counter, std::uint64_t flags) {
  if ((flags & ~kCounterFlags) || flags == 0)
    return refuse(kLog, FI_EBADFLAGS, "fi_ep_bind: a counter needs flags that say what it counts");
  constexpr std::uint64_t kFlags[kCounters] = {FI_SEND,  FI_RECV,        FI_READ,
                                               FI_WRITE, FI_REMOTE_READ, FI_REMOTE_WRITE};
  for (std::size_t i = 0; i < kCounters; i++)
    if ((flags & kFlags[i]) && counters_[i])
      return refuse(kLog, FI_EINVAL, "fi_ep_bind: another counter counts that already");
  for (std::size_t i = 0; i < kCounters; i++) {
    if (!(flags & kFlags[i])) continue;
    counters_[i] = &counter;
    counter.references.add();
  }
  return 0;
}

int Bindings::bind_events(EventQueue& queue) {
  if (event_queue_) return refuse(kLog, FI_EINVAL, "fi_ep_bind: an event queue is bound already");
  event_queue_ = &queue;
  queue.references.add();
  return 0;
}

int Bindings::check(std::uint64_t caps) const {
  if (!addresses_) return refuse(kLog, FI_ENOAV, "fi_enable: no address vector is bound");
  if ((caps & kTransmitEvents) && !transmit_.queue && !counters_[kCountSend] && !counters_[kCountWrite] &&
      !counters_[kCountRead])
    return refuse(
        kLog, FI_ENOCQ,
        "fi_enable: the endpoint may send, read or write, and neither a completion queue (FI_TRANSMIT) "
        "nor a counter is bound");
  if ((caps & FI_RECV) && !receive_.queue && !counters_[kCountReceive] && (caps & (FI_MSG | FI_TAGGED)))
    return refuse(
        kLog, FI_ENOCQ,
        "fi_enable: the endpoint may receive, and neither a completion queue (FI_RECV) nor a counter is "
        "bound; ask for FI_SEND beside FI_MSG or FI_TAGGED if it only sends");
  return 0;
}

void Bindings::count(CounterIndex kind, bool error) const {
  Counter* const counter = counters_[kind];
  if (!counter) return;
  if (error)
    counter->add_error(1);
  else
    counter->add(1);
}

}  // namespace omx::fabric
