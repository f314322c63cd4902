// SPDX-License-Identifier: BSD-3-Clause
// What differs between the versions of libfabric, from 1.11 to 2, that this provider can be built with.
// libfabric keeps the values of names that it no longer declares or calls deprecated, because old programs
// still send them.
#pragma once

#include <rdma/fabric.h>

#include <cstddef>
#include <cstdint>

namespace omx::fabric {

// The newest interface whose structures this provider knows: that of the headers. libfabric offers a provider
// only to programs that ask for no newer one.
inline constexpr std::uint32_t kInterface = FI_VERSION(FI_MAJOR_VERSION, FI_MINOR_VERSION);

// FI_PROV_SPECIFIC: numbers of formats and protocols that belong to one provider.
inline constexpr std::uint32_t kOwnRange = 1U << 31;
// FI_MR_BASIC and FI_MR_SCALABLE.
inline constexpr int kMrBasic = 1 << 0, kMrScalable = 1 << 1;
// A flag of fi_av_insert, from 1.13 on.
#ifdef FI_AV_USER_ID
inline constexpr std::uint64_t kUserId = FI_AV_USER_ID;
#else
inline constexpr std::uint64_t kUserId = 0;
#endif

// Returns a table of calls with its size, filled by `fill`. libfabric takes calls beyond the size, and those
// that are not filled, for calls that the provider does not have. So an older libfabric ignores the end of
// the table, and a newer one does not read beyond it.
template <class Ops, class Fill>
constexpr Ops ops_of(Fill fill) {
  Ops ops{};
  ops.size = sizeof ops;
  fill(ops);
  return ops;
}

}  // namespace omx::fabric
