// SPDX-License-Identifier: BSD-3-Clause
// An endpoint of this host.
#pragma once

#include <cstdint>

#include "base/mac.h"

namespace omx::local {

struct Place {
  NicId nic = 0;
  std::uint8_t endpoint = 0;
  bool operator==(const Place&) const = default;
};

}  // namespace omx::local
