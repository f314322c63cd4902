// SPDX-License-Identifier: BSD-3-Clause
// The hints of a caller of fi_getinfo. What it asks for is echoed if we can do it, and declined otherwise.
// libfabric hides its own helpers for this from external providers. So the rules are written down again here
// (docs/spec/libfabric.md 1.5).
#pragma once

#include <rdma/fabric.h>

#include <cstdint>

namespace omx::fabric {

// Open MPI 5 asks for memory of accelerators first, and without it next, on every host.
inline constexpr const char* kAccelerators = "caps (FI_HMEM, memory of accelerators)";
inline constexpr const char* kOtherDomain = "domain_attr->name (another interface)";

// Cuts `offer`, which has its format of addresses, to what is asked for. Returns the name of what cannot be
// offered; nullptr if there is none.
const char* info_cut(fi_info& offer, const fi_info& hints, std::uint32_t version);

}  // namespace omx::fabric
