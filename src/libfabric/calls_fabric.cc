// SPDX-License-Identifier: BSD-3-Clause
#include "libfabric/calls_fabric.h"

#include <fmt/format.h>

#include <cstring>

#include "base/text.h"
#include "libfabric/calls_domain.h"
#include "libfabric/capabilities.h"
#include "libfabric/decline.h"
#include "libfabric/event_queue.h"
#include "libfabric/fabric.h"
#include "libfabric/fence.h"
#include "libfabric/object_calls.h"
#include "libfabric/provider.h"
#include "libfabric/runtime_process.h"
#include "libfabric/versions.h"
#include "libfabric/wait_objects.h"

namespace omx::fabric {

namespace {

int close(fid* object) {
  auto* fabric = static_cast<Fabric*>(reinterpret_cast<fid_fabric*>(object));
  if (fabric->references.any()) return -FI_EBUSY;
  delete fabric;
  return 0;
}

int no_passive_endpoint(fid_fabric*, fi_info*, fid_pep**, void*) {
  return refuse(FI_LOG_FABRIC, FI_ENOSYS, "fi_passive_ep: there are no connections, only FI_EP_RDM");
}

int no_wait_set(fid_fabric*, fi_wait_attr*, fid_wait**) {
  return refuse(FI_LOG_FABRIC, FI_ENOSYS,
                "fi_wait_open: there are no wait sets; use FI_WAIT_FD, or poll sets");
}

int domain_open_flags(fid_fabric* fabric, fi_info* info, fid_domain** domain, std::uint64_t flags,
                      void* context) {
  return flags ? -FI_EBADFLAGS : domain_open(fabric, info, domain, context);
}

const fi_ops kOps = closing_ops(close);
constexpr auto kFabricOps = ops_of<fi_ops_fabric>([](auto& ops) {
  ops.domain = domain_open;
  ops.passive_ep = no_passive_endpoint;
  ops.eq_open = event_queue_open;
  ops.wait_open = no_wait_set;
  ops.trywait = trywait;
  if constexpr (requires { ops.domain2; }) ops.domain2 = domain_open_flags;
});

}  // namespace

int fabric_open(fi_fabric_attr* attr, fid_fabric** opened, void* context) {
  return fenced([&] {
    if (attr && attr->name && std::strcmp(attr->name, kFabricName) != 0)
      return refuse(
          FI_LOG_FABRIC, FI_ENODATA,
          fmt::format("fi_fabric: the fabric is \"{}\", not \"{}\"", kFabricName, shown(attr->name)));
    if (const auto process = runtime_of_process(); !process) {
      decline(process.error().message, Caller::names_us);
      return -FI_ENODEV;
    }
    auto* fabric = new Fabric;
    fabric->fid = {FI_CLASS_FABRIC, context, table(kOps)};
    fabric->ops = table(kFabricOps);
    fabric->api_version = attr ? attr->api_version : kInterface;
    *opened = fabric;
    return 0;
  });
}

}  // namespace omx::fabric
