// SPDX-License-Identifier: BSD-3-Clause
#include "libfabric/calls_domain.h"

#include <fmt/format.h>

#include <cstring>

#include "base/text.h"
#include "libfabric/calls_address_vector.h"
#include "libfabric/calls_atomic.h"
#include "libfabric/calls_endpoint.h"
#include "libfabric/calls_memory.h"
#include "libfabric/completion_queue.h"
#include "libfabric/counter.h"
#include "libfabric/domain.h"
#include "libfabric/fence.h"
#include "libfabric/info_board.h"
#include "libfabric/info_ends.h"
#include "libfabric/object_calls.h"
#include "libfabric/poll_set.h"
#include "libfabric/provider.h"
#include "libfabric/runtime_process.h"
#include "libfabric/versions.h"

namespace omx::fabric {

namespace {

int close(fid* object) {
  auto* domain = static_cast<Domain*>(reinterpret_cast<fid_domain*>(object));
  if (domain->references.any()) return -FI_EBUSY;
  delete domain;
  return 0;
}

int bind(fid*, fid* other, std::uint64_t) {
  return other->fclass == FI_CLASS_EQ ? 0 : -FI_EINVAL;  // a domain itself has no events
}

int no_scalable_endpoint(fid_domain*, fi_info*, fid_ep**, void*) {
  return refuse(FI_LOG_DOMAIN, FI_ENOSYS, "fi_scalable_ep: endpoints have one context each");
}

int no_shared_transmit(fid_domain*, fi_tx_attr*, fid_stx**, void*) {
  return refuse(FI_LOG_DOMAIN, FI_ENOSYS, "fi_stx_context: endpoints do not share contexts");
}

int no_shared_receive(fid_domain*, fi_rx_attr*, fid_ep**, void*) {
  return refuse(FI_LOG_DOMAIN, FI_ENOSYS, "fi_srx_context: endpoints do not share contexts");
}

int no_collective(fid_domain*, fi_collective_op, fi_collective_attr*, std::uint64_t) {
  return -FI_ENOSYS;
}

int endpoint_open_flags(fid_domain* domain, fi_info* info, fid_ep** endpoint, std::uint64_t flags,
                        void* context) {
  return flags ? -FI_EBADFLAGS : endpoint_open(domain, info, endpoint, context);
}

const fi_ops kOps = closing_ops(close, bind);
constexpr auto kDomainOps = ops_of<fi_ops_domain>([](auto& ops) {
  ops.av_open = address_vector_open;
  ops.cq_open = completion_queue_open;
  ops.endpoint = endpoint_open;
  ops.scalable_ep = no_scalable_endpoint;
  ops.cntr_open = counter_open;
  ops.poll_open = poll_set_open;
  ops.stx_ctx = no_shared_transmit;
  ops.srx_ctx = no_shared_receive;
  ops.query_atomic = atomic_query;
  ops.query_collective = no_collective;
  if constexpr (requires { ops.endpoint2; }) ops.endpoint2 = endpoint_open_flags;
});

}  // namespace

int domain_open(fid_fabric* fabric, fi_info* info, fid_domain** opened, void* context) {
  return fenced([&] {
    if (!info || !info->domain_attr || !info->domain_attr->name)
      return refuse(FI_LOG_DOMAIN, FI_EINVAL, "fi_domain: the fi_info names no domain");
    const auto process = runtime_of_process();
    if (!process) return refuse(FI_LOG_DOMAIN, FI_ENODEV, "fi_domain: " + process.error().message);
    const auto& boards = (*process)->boards();
    const bool all = std::strcmp(info->domain_attr->name, kAllBoards) == 0;
    const runtime::Board* board = all ? board_of_all(**process) : nullptr;
    for (const runtime::Board& b : boards) {
      if (b.interface.name == info->domain_attr->name) board = &b;
    }
    if (!board)
      return refuse(
          FI_LOG_DOMAIN, FI_ENODEV,
          fmt::format("fi_domain: {} is no interface of this process", shown(info->domain_attr->name)));
    if (format_offered(*board, info->addr_format) == 0)
      return refuse(FI_LOG_DOMAIN, FI_EINVAL,
                    "fi_domain: the interface has no address of the format addr_format");
    auto* domain = new Domain(*static_cast<Fabric*>(fabric), **process, *board, all, *info);
    domain->fid = {FI_CLASS_DOMAIN, context, table(kOps)};
    domain->ops = table(kDomainOps);
    domain->mr = table(kMemoryOps);
    *opened = domain;
    return 0;
  });
}

}  // namespace omx::fabric
