// SPDX-License-Identifier: BSD-3-Clause
// fi_tsend and fi_trecv in all their forms.
#pragma once

#include <rdma/fi_tagged.h>

namespace omx::fabric {

extern const fi_ops_tagged kTaggedCalls;

}  // namespace omx::fabric
