// SPDX-License-Identifier: BSD-3-Clause
#include "libfabric/domain.h"

#include <sched.h>

#include <mutex>
#include <new>
#include <utility>

#include "libfabric/driven_endpoint.h"
#include "libfabric/info_ends.h"
#include "libfabric/versions.h"

namespace omx::fabric {

Domain::Domain(Fabric& fabric, runtime::Process& process, runtime::Board board, bool all_boards,
               const fi_info& info)
    : fid_domain{},
      fabric_(fabric),
      process_(process),
      board_(std::move(board)),
      all_boards_(all_boards),
      av_type_(info.domain_attr->av_type),
      address_format_(format_offered(board_, info.addr_format)),
      legacy_mr_(info.domain_attr->mr_mode == kMrBasic) {
  fabric_.references.add();
}

Domain::~Domain() {
  fabric_.references.drop();
}

void Domain::endpoint_add(DrivenEndpoint& endpoint) {
  const std::lock_guard guard(lock_);
  // A thread that waits for the only endpoint must now wait for both.
  for (DrivenEndpoint* other : endpoints_) other->runtime_endpoint().wakeup();
  endpoints_.push_back(&endpoint);
}

void Domain::endpoint_remove(DrivenEndpoint& endpoint) {
  const std::lock_guard guard(lock_);
  std::erase(endpoints_, &endpoint);
}

void Domain::progress(bool look) {
  std::unique_lock guard(lock_, std::try_to_lock);
  if (!guard.owns_lock()) return;
  bool frames = false;
  try {
    for (DrivenEndpoint* endpoint : endpoints_) frames = endpoint->poll(look) || frames;
  } catch (const std::bad_alloc&) {
    // Work that found no memory is tried again with the next call.
  }
  if (look && fairness_.yield_due(frames)) {
    guard.unlock();
    ::sched_yield();
  }
}

DrivenEndpoint* Domain::only_endpoint() {
  const std::lock_guard guard(lock_);
  if (endpoints_.size() != 1) return nullptr;
  endpoints_.front()->waiting().fetch_add(1, std::memory_order_relaxed);
  return endpoints_.front();
}

void Domain::revoke(MemoryRegion& region, bool late) {
  const std::lock_guard guard(lock_);
  for (DrivenEndpoint* endpoint : endpoints_) endpoint->revoke(region, late);
}

bool Domain::hand_over() {
  const std::lock_guard guard(lock_);
  bool all = true;
  for (DrivenEndpoint* endpoint : endpoints_) all = runtime::hand_over(endpoint->runtime_endpoint()) && all;
  return all;
}

}  // namespace omx::fabric
