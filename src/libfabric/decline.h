// SPDX-License-Identifier: BSD-3-Clause
// When the provider offers nothing, people who expected it are told why on stderr: libfabric's own log is off
// unless it is switched on. fi_getinfo comes from many callers that only look around, so who is told depends
// on what shows that this provider was meant (docs/libfabric.md, "Is it used?").
#pragma once

#include <rdma/fabric.h>

#include <cstdint>
#include <string>

namespace omx::fabric {

enum class Caller : std::uint8_t {
  looks_around,  // a mere list, another provider's business, or no sign that this one was meant
  may_mean_us,   // our settings or our folder are in the environment, and the hints ask for what we have
  names_us,      // the hints, FI_PROVIDER or the MPI library's choice of provider name us
};

// Flag of fi_getinfo by which utility providers look for one to stand on (OFI_CORE_PROV_ONLY).
inline constexpr std::uint64_t kCoreOnly = 1ULL << 59;

// `flags`: those of fi_getinfo.
Caller caller_of(const fi_info* hints, std::uint64_t flags);

// The provider cannot serve this process: libfabric's log at level warn; and stderr, unless the caller only
// looks around or the log is printed anyway.
void decline(const std::string& why, Caller caller);
// It cannot serve this request: libfabric's log at level info; and stderr where the caller names us and no
// request was served before, as programs try several.
void decline_request(const std::string& why, Caller caller);
// A request that asked for capabilities was served.
void request_served();

}  // namespace omx::fabric
