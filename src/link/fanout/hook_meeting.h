// SPDX-License-Identifier: BSD-3-Clause
// Where processes of a user meet to share a hook: who founds a group, and who belongs to it.
#pragma once

#include <cstdint>
#include <string>

#include "base/own_fd.h"
#include "link/fanout/hook_place.h"
#include "link/fanout/hook_places.h"

namespace omx::link {

// A hook of one's own, of those that `most` endpoints of the interface may have; not open when they are
// taken.
OwnFd hook_licence(std::uint32_t ifindex, std::uint32_t most);
// By which processes of this user meet.
std::string hook_group_name(std::uint32_t ifindex, unsigned number);

// A place of a group of this user on that interface, found or founded; not held() when there is none to be
// had in reasonable time. `witness`: a packet socket of ours, whose network is meant. The place's socket
// drops all frames until HookPlace::enter().
HookPlace hook_place_take(std::uint32_t ifindex, int witness, const HookWish& wish);

}  // namespace omx::link
