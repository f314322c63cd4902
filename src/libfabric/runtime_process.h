// SPDX-License-Identifier: BSD-3-Clause
// The runtime of this process, as the provider's and the user's settings want it.
#pragma once

#include "base/expected.h"
#include "runtime/process/process.h"

namespace omx::fabric {

// Returns the runtime, or why there is none. The first call makes it, and a call after a failure tries again.
// A forked child gets one of its own. It is never destroyed, because threads may be inside it when the
// process exits. Thread-safe.
Result<runtime::Process*> runtime_of_process();

}  // namespace omx::fabric
