// SPDX-License-Identifier: BSD-3-Clause
// The sockets of a packet fanout group. They are made, join in the order in which they were made, and are
// left and taken over.
#pragma once

#include <functional>

#include "link/fanout/fanout_group.h"
#include "link/fanout/fanout_member.h"

namespace omx::link {

struct MemberWish {
  FanoutKind kind = FanoutKind::frames;
  RingGeometry geometry = {};  // only for FanoutKind::frames
  // Prepares a new socket, e.g. its receive buffer. Returns 0 or errno.
  std::function<int(int fd)> ready;
};

// Takes a member that was left, or makes a new one. The member is not held() when none can be had in
// reasonable time. Its socket drops all frames until FanoutMember::enter().
FanoutMember member_take(FanoutGroup& group, const MemberWish& wish);

}  // namespace omx::link
