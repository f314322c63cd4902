// SPDX-License-Identifier: BSD-3-Clause
// Starting and stopping the library.
#pragma once

#include "base/expected.h"

namespace omx::mx {

// Starts the runtime of this process. The failure says why it cannot be started. OMX_ALREADY_INITIALIZED: it
// runs already. Thread-safe.
Result<void> process_start();
// Closes all endpoints and stops the runtime. Returns false when there was nothing to stop. Thread-safe.
bool process_stop();

}  // namespace omx::mx
