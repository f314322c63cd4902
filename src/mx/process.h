// SPDX-License-Identifier: BSD-3-Clause
// The runtime of this process, from mx_init() to mx_finalize().
#pragma once

#include "runtime/process/process.h"

namespace omx::mx {

// Returns the runtime; nullptr before init and after finalize. Thread-safe.
runtime::Process* process();
// Replaces the runtime, and returns the former one, which the caller then owns. nullptr stands for none.
runtime::Process* process_exchange(runtime::Process* process);

}  // namespace omx::mx
