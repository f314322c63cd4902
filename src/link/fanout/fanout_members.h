// SPDX-License-Identifier: BSD-3-Clause
// The sockets of a packet fanout group: made, joined in the order in which they were made, left and taken
// again.
#pragma once

#include <functional>

#include "link/fanout/fanout_group.h"
#include "link/fanout/fanout_member.h"

namespace omx::link {

struct MemberWish {
  FanoutKind kind = FanoutKind::frames;
  RingGeometry geometry = {};  // of frames
  // Readies a new socket: its receive buffer, say. Returns 0 or errno.
  std::function<int(int fd)> ready;
};

// A member that somebody left, or a new one; not held() when there is none to be had in reasonable time. Its
// socket drops all frames until FanoutMember::enter().
FanoutMember member_take(FanoutGroup& group, const MemberWish& wish);

}  // namespace omx::link
