// SPDX-License-Identifier: BSD-3-Clause
// What the application chooses of an endpoint: capabilities, flags, limits, and its address.
#pragma once

#include <rdma/fabric.h>

#include <cstddef>
#include <cstdint>

#include "libfabric/address.h"

namespace omx::fabric {

class Domain;

// Not thread-safe. Only the flags and the option change after fi_enable().
struct Choices {
  explicit Choices(const fi_info& info);

  // Answer fi_setopt, fi_getopt and fi_setname. They return 0 or a negative error code.
  int option_set(int name, const void* value, std::size_t length);
  int option_get(int name, void* value, std::size_t* length) const;
  int name_set(const Domain& domain, const void* in, std::size_t length);

  std::uint64_t caps;
  std::uint64_t transmit_flags, receive_flags;  // of operations whose call has no flags
  std::size_t transmit_size;                    // sends that may be under way
  std::size_t multi_receive_least = 64;         // bytes; FI_OPT_MIN_MULTI_RECV
  Address address;                              // as far as it was chosen
};

}  // namespace omx::fabric
