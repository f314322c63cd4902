// SPDX-License-Identifier: BSD-3-Clause
#include "libfabric/calls_memory.h"

#include <fmt/format.h>
#include <sched.h>

#include <limits>
#include <memory>

#include "libfabric/capabilities.h"
#include "libfabric/counter.h"
#include "libfabric/domain.h"
#include "libfabric/fence.h"
#include "libfabric/memory_regions.h"
#include "libfabric/object_calls.h"
#include "libfabric/provider.h"
#include "runtime/clock.h"

namespace omx::fabric {

namespace {

constexpr std::uint64_t kRegisterFlags = FI_RMA_EVENT;
// The time that a peer has to end an access before it is disconnected.
constexpr protocol::TimeNs kPatience = 5000 * protocol::kMillisecond;

MemoryRegion& region_of(fid* object) {
  return *static_cast<MemoryRegion*>(reinterpret_cast<fid_mr*>(object));
}

int close(fid* object) {
  MemoryRegion& region = region_of(object);
  Domain& domain = region.domain;
  domain.regions().remove(region);
  // An access of a peer that has begun still uses the memory. It ends, or fails within a bounded time.
  const auto patience = runtime::clock_now() + kPatience;
  while (domain.regions().in_use(region)) {
    domain.revoke(region, runtime::clock_now() > patience);
    domain.progress();
    ::sched_yield();
  }
  if (region.counter) region.counter->references.drop();
  domain.references.drop();
  delete &region;
  return 0;
}

int bind(fid* object, fid* other, std::uint64_t flags) {
  MemoryRegion& region = region_of(object);
  if (other->fclass == FI_CLASS_EP) return 0;  // any endpoint of the domain may use it
  if (other->fclass != FI_CLASS_CNTR || region.counter)
    return refuse(FI_LOG_MR, FI_EINVAL, "fi_mr_bind: a region takes one counter, and endpoints");
  if (flags != FI_REMOTE_WRITE)
    return refuse(FI_LOG_MR, FI_EBADFLAGS, "fi_mr_bind: a counter is bound with FI_REMOTE_WRITE");
  region.counter = static_cast<Counter*>(reinterpret_cast<fid_cntr*>(other));
  region.counter->references.add();
  return 0;
}

int control(fid*, int command, void*) {
  return command == FI_ENABLE ? 0 : -FI_ENOSYS;
}

const fi_ops kOps = closing_ops(close, bind, control);

int register_attr(fid* object, const fi_mr_attr* attr, std::uint64_t flags, fid_mr** registered) {
  return fenced([&] {
    if (object->fclass != FI_CLASS_DOMAIN || !attr || (attr->iov_count > 0 && !attr->mr_iov))
      return refuse(FI_LOG_MR, FI_EINVAL, "fi_mr_reg: no domain, attributes or memory are given");
    if (flags & ~kRegisterFlags) return refuse(FI_LOG_MR, FI_EBADFLAGS, "fi_mr_reg: a flag is not known");
    if (attr->iov_count > kSegmentsMost)
      return refuse(FI_LOG_MR, FI_EINVAL, fmt::format("fi_mr_reg: more than {} pieces", kSegmentsMost));
    Domain& domain = domain_of(reinterpret_cast<fid_domain*>(object));
    auto region = std::make_unique<MemoryRegion>(domain);
    region->pieces.assign(attr->mr_iov, attr->mr_iov + attr->iov_count);
    for (const iovec& piece : region->pieces) {
      if (piece.iov_len > std::numeric_limits<std::uint64_t>::max() - region->length)
        return refuse(FI_LOG_MR, FI_EINVAL, "fi_mr_reg: the pieces are longer than an address space");
      region->length += piece.iov_len;
    }
    region->access = attr->access;
    region->fid = {FI_CLASS_MR, attr->context, table(kOps)};
    region->mem_desc = region.get();
    const bool legacy = domain.legacy_mr();
    if (legacy && !region->pieces.empty())
      region->first = reinterpret_cast<std::uintptr_t>(region->pieces.front().iov_base);
    else
      region->first = attr->offset;
    const std::uint64_t key = legacy ? domain.regions().key_draw() : attr->requested_key;
    if (!domain.regions().add(*region, key))
      return refuse(FI_LOG_MR, FI_ENOKEY, fmt::format("fi_mr_reg: the key {:#x} is in use", key));
    domain.references.add();
    *registered = region.release();
    return 0;
  });
}

int register_vector(fid* object, const iovec* pieces, std::size_t count, std::uint64_t access,
                    std::uint64_t offset, std::uint64_t key, std::uint64_t flags, fid_mr** registered,
                    void* context) {
  fi_mr_attr attr{};
  attr.mr_iov = pieces;
  attr.iov_count = count;
  attr.access = access;
  attr.offset = offset;
  attr.requested_key = key;
  attr.context = context;
  return register_attr(object, &attr, flags, registered);
}

int register_one(fid* object, const void* memory, std::size_t length, std::uint64_t access,
                 std::uint64_t offset, std::uint64_t key, std::uint64_t flags, fid_mr** registered,
                 void* context) {
  const iovec piece{const_cast<void*>(memory), length};
  return register_vector(object, &piece, 1, access, offset, key, flags, registered, context);
}

}  // namespace

const fi_ops_mr kMemoryOps = {sizeof(fi_ops_mr), register_one, register_vector, register_attr};

}  // namespace omx::fabric
