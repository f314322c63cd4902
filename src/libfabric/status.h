// SPDX-License-Identifier: BSD-3-Clause
// How the engine's requests end, in libfabric's terms.
#pragma once

#include "protocol/types.h"

namespace omx::fabric {

// Returns the positive error code of libfabric for a status of the engine; 0 for success.
int error_of(protocol::Status status);

}  // namespace omx::fabric
