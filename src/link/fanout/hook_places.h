// SPDX-License-Identifier: BSD-3-Clause
// The sockets of a hook group: made, joined in the order in which they were made, left and taken again.
#pragma once

#include <functional>

#include "link/fanout/hook_group.h"
#include "link/fanout/hook_place.h"

namespace omx::link {

struct HookWish {
  HookKind kind = HookKind::frames;
  RingGeometry geometry = {};  // of frames
  // Readies a new socket: its receive buffer, say. Returns 0 or errno.
  std::function<int(int fd)> ready;
};

// A place that somebody left, or a new one; not held() when there is none to be had in reasonable time. Its
// socket drops all frames until HookPlace::enter().
HookPlace place_take(HookGroup& group, const HookWish& wish);

}  // namespace omx::link
