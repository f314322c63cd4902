// SPDX-License-Identifier: BSD-3-Clause
// Where processes of a user meet to share a hook: finds or founds a group, and admits processes to it.
#pragma once

#include <cstdint>
#include <string>

#include "base/own_fd.h"
#include "link/fanout/fanout_member.h"
#include "link/fanout/fanout_members.h"

namespace omx::link {

// Takes one of the hooks that `most` endpoints of the interface may each have alone. The descriptor is not
// open when all are taken.
OwnFd hook_licence(std::uint32_t ifindex, std::uint32_t most);
// Returns the abstract Unix name by which processes of this user meet.
std::string fanout_group_name(std::uint32_t ifindex, unsigned number);

// Takes a member of a group of this user on that interface; founds the group if needed. The member is not
// held() when none can be had in reasonable time. `probe` is a packet socket of ours, and selects the
// network. The member's socket drops all frames until FanoutMember::enter().
FanoutMember fanout_member_take(std::uint32_t ifindex, int probe, const MemberWish& wish);

}  // namespace omx::link
