// SPDX-License-Identifier: BSD-3-Clause
// Which processors share a cache.
#pragma once

#include <string>
#include <vector>

namespace omx {

// Returns whether all these processors share their cache of the last level. One processor shares it with
// itself. Returns false for none, and where the kernel does not say. `root` is the folder that holds /sys. It
// is empty except in tests.
bool cache_shared(const std::vector<int>& cpus, const std::string& root = "");

}  // namespace omx
