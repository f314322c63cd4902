// SPDX-License-Identifier: BSD-3-Clause
// The name by which peers know a board.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "wire/packets.h"

namespace omx::wire {

// Returns "host:number". Cuts the host's part where the whole would be longer than a packet can carry.
inline std::string board_hostname(std::string_view host, std::uint32_t number) {
  // In ":" + std::to_string(number) GCC 12 reports an impossible overflow (GCC bug 105651).
  std::string suffix(1, ':');
  suffix += std::to_string(number);
  return std::string(host.substr(0, kHostnameMax - 1 - suffix.size())) + suffix;
}

}  // namespace omx::wire
