// SPDX-License-Identifier: BSD-3-Clause
// The entry point that libfabric looks for in libomx-fi.so (docs/spec/libfabric.md 1.3).
#include <algorithm>

#include "libfabric/calls_fabric.h"
#include "libfabric/capabilities.h"
#include "libfabric/info.h"
#include "libfabric/parameters.h"
#include "libfabric/provider.h"
#include "libfabric/versions.h"

namespace omx::fabric {

namespace {

// Cleans nothing up, because a thread may still be inside a call (docs/spec/libfabric.md 6.4).
void cleanup() {}

}  // namespace

}  // namespace omx::fabric

// The interface that the provider was built with, which fi_prov_ini may exceed.
extern "C" __attribute__((visibility("default"))) constexpr std::uint32_t omx_fi_interface =
    omx::fabric::kInterface;

extern "C" __attribute__((visibility("default"))) fi_provider* fi_prov_ini() {
  using namespace omx::fabric;
  parameters_define();
  // A program may want a newer interface than ours. libfabric would not ask us on its behalf, and the user
  // would not learn why. So we claim that interface, and getinfo declines with a sentence.
  g_provider.fi_version = std::max(kInterface, fi_version());
  g_provider.getinfo = getinfo;
  g_provider.fabric = fabric_open;
  g_provider.cleanup = cleanup;
  return &g_provider;
}
