// SPDX-License-Identifier: BSD-3-Clause
// Where processes of a user meet to share a hook: who founds a group, and who belongs to it.
#pragma once

#include <cstdint>
#include <string>

#include "base/own_fd.h"
#include "link/fanout/fanout_member.h"
#include "link/fanout/fanout_members.h"

namespace omx::link {

// A hook of one's own, of those that `most` endpoints of the interface may have; not open when they are
// taken.
OwnFd hook_licence(std::uint32_t ifindex, std::uint32_t most);
// By which processes of this user meet.
std::string fanout_group_name(std::uint32_t ifindex, unsigned number);

// A member of a group of this user on that interface, found or founded; not held() when there is none to be
// had in reasonable time. `probe`: a probe socket, a packet socket of ours, whose network is meant. The
// member's socket drops all frames until FanoutMember::enter().
FanoutMember fanout_member_take(std::uint32_t ifindex, int probe, const MemberWish& wish);

}  // namespace omx::link
