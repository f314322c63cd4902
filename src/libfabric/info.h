// SPDX-License-Identifier: BSD-3-Clause
// fi_getinfo: what the provider offers. There is one fi_info per board, cut to what the caller's hints ask
// for (docs/spec/libfabric.md 1.5).
#pragma once

#include <rdma/fabric.h>

#include <cstdint>

namespace omx::fabric {

// Answers fi_getinfo. Returns 0 and a list in `found`, which the caller frees with fi_freeinfo(), or a
// negative error code. The reason of a refusal goes to libfabric's log, and in some cases to stderr
// (decline.h). Thread-safe.
int getinfo(std::uint32_t version, const char* node, const char* service, std::uint64_t flags,
            const fi_info* hints, fi_info** found);

}  // namespace omx::fabric
