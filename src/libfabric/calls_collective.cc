// SPDX-License-Identifier: BSD-3-Clause
#include "libfabric/calls_collective.h"

#include "libfabric/endpoint.h"
#include "libfabric/versions.h"

namespace omx::fabric {

namespace {

// Refuses a call, with any signature of libfabric's table.
template <class... Arguments>
ssize_t refuse(Arguments...) {
  return -FI_ENOSYS;
}

}  // namespace

const fi_ops_collective kCollectiveCalls = ops_of<fi_ops_collective>([](auto& ops) {
  ops.barrier = refuse;
  ops.broadcast = refuse;
  ops.alltoall = refuse;
  ops.allreduce = refuse;
  ops.allgather = refuse;
  ops.reduce_scatter = refuse;
  ops.reduce = refuse;
  ops.scatter = refuse;
  ops.gather = refuse;
  ops.msg = refuse;
  if constexpr (requires { ops.barrier2; }) ops.barrier2 = refuse;
});

}  // namespace omx::fabric
