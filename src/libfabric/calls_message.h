// SPDX-License-Identifier: BSD-3-Clause
// fi_send and fi_recv in all their forms.
#pragma once

#include <rdma/fi_endpoint.h>

namespace omx::fabric {

extern const fi_ops_msg kMessageCalls;

}  // namespace omx::fabric
