// SPDX-License-Identifier: BSD-3-Clause
// Failures to open a link, as MX codes, and messages that all links share.
#pragma once

#include <string>

#include "base/expected.h"

namespace omx::link {

inline constexpr int kFailure = 2;       // MX_FAILURE
inline constexpr int kNoDevice = 5;      // MX_NO_DEV
inline constexpr int kNoPermission = 7;  // MX_NO_PERM
inline constexpr int kBoardUnknown = 8;  // MX_BOARD_UNKNOWN
inline constexpr int kNoResources = 15;  // MX_NO_RESOURCES
inline constexpr int kBusy = 20;         // MX_BUSY

// Returns the failure of opening `what` ("a packet socket on eth0").
Failure open_failure(const std::string& what, int error);
Failure state_failure(const std::string& interface, int error);
void warn_if_down(const std::string& interface, bool up);

}  // namespace omx::link
