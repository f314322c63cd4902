// SPDX-License-Identifier: BSD-3-Clause
// Computes how long a pull has been silent, and how long it may be.
#pragma once

#include "protocol/types.h"

namespace omx::protocol {

struct Pull;
struct State;

TimeNs pull_delay(const State& s, const Pull& pull);
// Returns since when the pull is silent. A sender answers in the order of the requests. While it still
// answers an earlier one, it has not come to this one.
TimeNs pull_silent_since(Pull& pull);

}  // namespace omx::protocol
