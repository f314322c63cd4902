// SPDX-License-Identifier: BSD-3-Clause
// The map state of this process (docs/spec/mx-api.md 4.7). Only a mapper daemon of this process sets it.
// Without one it is zero on all hosts, which therefore agree.
#pragma once

#include "mx_internals/mx__driver_interface.h"
#include "mx_internals/mx__fops.h"
#include "myriexpress.h"

namespace omx::mx {

// Set and return the state. Thread-safe.
void map_state_set(const mx_mapper_state_t& state);
mx_mapper_state_t map_state();

}  // namespace omx::mx
