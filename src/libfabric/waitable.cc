// SPDX-License-Identifier: BSD-3-Clause
#include "libfabric/waitable.h"

#include <poll.h>

#include "libfabric/driven_endpoint.h"
#include "libfabric/provider.h"
#include "runtime/clock.h"

namespace omx::fabric {

protocol::TimeNs deadline_of(int timeout_ms) {
  return runtime::deadline_after_ms(
      runtime::clock_now(), timeout_ms < 0 ? runtime::kForever : static_cast<std::uint64_t>(timeout_ms));
}

Waitable::Waitable(Domain& domain) : domain_(domain) {
  domain_.references.add();
}

Waitable::~Waitable() {
  domain_.references.drop();
}

int Waitable::wait_object_set(fi_wait_obj object) {
  const bool descriptor = object == FI_WAIT_FD || object == FI_WAIT_POLLFD;
  if (!descriptor && object != FI_WAIT_NONE && object != FI_WAIT_UNSPEC && object != FI_WAIT_YIELD)
    return refuse(FI_LOG_CQ, FI_ENOSYS, "wait objects are FI_WAIT_FD, _POLLFD, _UNSPEC, _YIELD and _NONE");
  if (descriptor && domain_.process().settings().waiting.progress == runtime::ProgressMode::off) {
    warn(FI_LOG_CQ, "a descriptor to wait for needs the progress thread; unset OMX_PROGRESS");
    return -FI_ENOSYS;
  }
  if (!event_.open())
    return refuse(FI_LOG_CQ, FI_EMFILE,
                  "no file descriptor to wait for is left; raise the limit (ulimit -n)");
  object_ = object;
  has_descriptor_ = descriptor;
  return 0;
}

// Fills in the one descriptor, which never changes.
int Waitable::descriptors_give(fi_wait_pollfd& out) const {
  const std::size_t room = out.nfds;
  out.nfds = 1;
  out.change_index = 1;
  if (room < 1) return -FI_ETOOSMALL;
  *out.fd = {event_.descriptor(), POLLIN, 0};
  return 0;
}

int Waitable::control(int command, void* argument) const {
  switch (command) {
    case FI_GETWAIT:
      if (!has_descriptor_) return -FI_ENODATA;
      if (object_ == FI_WAIT_POLLFD) return descriptors_give(*static_cast<fi_wait_pollfd*>(argument));
      *static_cast<int*>(argument) = event_.descriptor();
      return 0;
    case FI_GETWAITOBJ:
      *static_cast<fi_wait_obj*>(argument) = object_;
      return 0;
    default:
      return -FI_ENOSYS;
  }
}

int Waitable::arm() {
  domain_.progress();
  if (something()) return -FI_EAGAIN;
  event_.clear();
  armed_.arm();
  // Entries that came before the descriptor was armed did not signal it.
  if (something_since_armed()) {
    // Another thread may sleep in poll() already, and clear() may have taken the signal that was for it.
    added();
    return -FI_EAGAIN;
  }
  domain_.hand_over();
  return 0;
}

bool Waitable::ready(void* self) {
  auto* waitable = static_cast<Waitable*>(self);
  return waitable->something() || waitable->woken_.load(std::memory_order_relaxed);
}

bool Waitable::wait(int timeout_ms) {
  const protocol::TimeNs end = deadline_of(timeout_ms);
  // Endpoints may come and go meanwhile, so each turn of the loop asks again how many there are.
  while (!ready(this)) {
    const protocol::TimeNs now = runtime::clock_now();
    if (now >= end) break;
    const protocol::TimeNs left = (end - now) / protocol::kMillisecond + 1;
    if (DrivenEndpoint* endpoint = domain_.only_endpoint()) {
      const bool foreign = endpoint->runtime_endpoint().foreign();
      if (!foreign)
        runtime::wait_until(endpoint->runtime_endpoint(), ready, this,
                            end == protocol::kNever ? runtime::kForever : left);
      endpoint->waiting().fetch_sub(1, std::memory_order_release);
      if (foreign) return true;
      continue;
    }
    if (arm() != 0) continue;
    if (woken_.load(std::memory_order_acquire)) break;  // wake() came before the arming
    pollfd wait{event_.descriptor(), POLLIN, 0};
    if (::poll(&wait, 1, left > 1000 ? 1000 : static_cast<int>(left)) < 0) break;  // a signal of the system
  }
  return woken_.exchange(false, std::memory_order_relaxed);
}

void Waitable::wake() {
  woken_.store(true, std::memory_order_release);
  added();
  DrivenEndpoint* endpoint = domain_.only_endpoint();
  if (!endpoint) return;
  endpoint->runtime_endpoint().wakeup();
  endpoint->waiting().fetch_sub(1, std::memory_order_release);
}

}  // namespace omx::fabric
