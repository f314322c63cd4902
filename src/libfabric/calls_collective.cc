// SPDX-License-Identifier: BSD-3-Clause
#include "libfabric/calls_collective.h"

#include "libfabric/endpoint.h"

namespace omx::fabric {

namespace {

// Refuses a call, with any signature of libfabric's table.
template <class... Arguments>
ssize_t refuse(Arguments...) {
  return -FI_ENOSYS;
}

}  // namespace

const fi_ops_collective kCollectiveCalls = {
    sizeof(fi_ops_collective),
    refuse,
    refuse,
    refuse,
    refuse,
    refuse,
    refuse,
    refuse,
    refuse,
    refuse,
    refuse,
    refuse,
};

}  // namespace omx::fabric
