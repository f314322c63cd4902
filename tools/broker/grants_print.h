// SPDX-License-Identifier: BSD-3-Clause
// Shows the grants of this host and what their sockets have sent (omxd --grants). It reads the kernel's maps,
// so it works beside a broker and without one.
#pragma once

#include <string>

#include "base/expected.h"
#include "tools/broker/policy.h"

namespace omx::broker {

// Returns a table, a line for each grant. Fails if this process may not read the maps.
Result<std::string> grants_text(const Policy& policy);

}  // namespace omx::broker
