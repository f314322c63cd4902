// SPDX-License-Identifier: BSD-3-Clause
// Boards whose sockets the host's broker grants (OMX_BROKER).
#pragma once

#include <string>
#include <vector>

#include "base/expected.h"
#include "config/settings.h"
#include "runtime/board/boards.h"

namespace omx::runtime {

// Returns whether the settings let this process ask the broker: raw frames may be used.
bool broker_allowed(const Settings& settings);
// Returns whether to ask the broker before interfaces are chosen: it is allowed, and this process may not
// open packet sockets. `frames_error` is what frames_possible() returned. A process that may open them asks
// only where it finds no interface, as in a container with a network of its own.
bool broker_wanted(const Settings& settings, int frames_error);
// Returns where the broker is, as OMX_BROKER says. Empty with "off".
std::string broker_path(const Settings& settings);
// Returns the boards that the broker grants to this user, chosen by OMX_INTERFACES. The failure says why
// there are none, in one sentence.
Result<std::vector<Board>> boards_of_broker(const Settings& settings);
// Returns these boards and, where other processes of this host have endpoints by the broker beside them,
// those boards of the broker. A process that has sockets of its own sees them only so. The broker is not
// asked, so the address of such a board is wrong where the policy says passthru.
std::vector<Board> boards_watched(std::vector<Board> boards, const Settings& settings);

}  // namespace omx::runtime
