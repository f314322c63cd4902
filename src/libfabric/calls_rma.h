// SPDX-License-Identifier: BSD-3-Clause
// fi_read and fi_write in all their forms.
#pragma once

#include <rdma/fi_rma.h>

namespace omx::fabric {

extern const fi_ops_rma kRmaCalls;

}  // namespace omx::fabric
