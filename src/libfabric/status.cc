// SPDX-License-Identifier: BSD-3-Clause
#include "libfabric/status.h"

#include <rdma/fi_errno.h>

#include <cassert>

namespace omx::fabric {

int error_of(protocol::Status status) {
  using protocol::Status;
  assert(status != Status::pending);
  switch (status) {
    case Status::success:
      return 0;
    case Status::truncated:
      return FI_ETRUNC;
    case Status::cancelled:
    case Status::aborted:
      return FI_ECANCELED;
    case Status::timeout:
      return FI_ETIMEDOUT;
    case Status::endpoint_unreachable:
      return FI_EHOSTUNREACH;
    case Status::bad_session:
    case Status::endpoint_closed:
    case Status::bad_endpoint:
      return FI_ECONNRESET;
    case Status::bad_key:
      return FI_ECONNREFUSED;
    case Status::rejected:
      return FI_EOPNOTSUPP;
    case Status::no_resources:
      return FI_ENOMEM;
    default:
      return FI_EIO;
  }
}

}  // namespace omx::fabric
