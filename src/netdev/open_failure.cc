// SPDX-License-Identifier: BSD-3-Clause
#include "netdev/open_failure.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>

#include "base/log.h"
#include "base/shortage.h"

namespace omx::link {

Failure open_failure(const std::string& what, int error) {
  return {is_shortage(error) ? kNoResources : kFailure,
          fmt::format("cannot open {}: {}{}", what, std::strerror(error),
                      error == EMFILE ? "; raise the limit of open files (ulimit -n)" : "")};
}

Failure state_failure(const std::string& interface, int error) {
  return {kFailure, fmt::format("cannot read the state of {}: {}", interface, std::strerror(error))};
}

void warn_if_down(const std::string& interface, bool up) {
  if (up) return;
  log(LogLevel::warn, "{} is down, nothing can be sent or received: ip link set {} up", interface, interface);
}

}  // namespace omx::link
