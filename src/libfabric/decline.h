// SPDX-License-Identifier: BSD-3-Clause
// When the provider offers nothing, users who expected it get the reason on stderr, because libfabric's own
// log is off by default. Many callers of fi_getinfo only list what there is. So the sentence depends on what
// shows that this provider was meant (docs/reference/libfabric.md, "Is it used?"). All functions are
// thread-safe.
#pragma once

#include <rdma/fabric.h>

#include <cstdint>
#include <string>

namespace omx::fabric {

enum class Caller : std::uint8_t {
  looks_around,  // a mere list, a request for another provider, or no sign that this one was meant
  may_mean_us,   // our settings or our folder are in the environment, and the hints ask for what we have
  names_us,      // the hints, FI_PROVIDER or the MPI library's choice of provider name us
};

// The flag of fi_getinfo by which utility providers search for one to stand on (OFI_CORE_PROV_ONLY).
inline constexpr std::uint64_t kCoreOnly = 1ULL << 59;

// Returns the kind of a caller of fi_getinfo with these hints and flags.
Caller caller_of(const fi_info* hints, std::uint64_t flags);

// Says why the provider cannot serve this process. The sentence goes to libfabric's log at level warn. It
// also goes to stderr, unless the caller only lists providers or the log is printed anyway.
void decline(const std::string& why, Caller caller);
// Says why the provider cannot serve this request. The sentence goes to libfabric's log at level info. It
// also goes to stderr where the caller names us and no request was served before, because programs try
// several.
void decline_request(const std::string& why, Caller caller);
// Notes that a request which asked for capabilities was served.
void request_served();

}  // namespace omx::fabric
