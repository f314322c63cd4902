// SPDX-License-Identifier: BSD-3-Clause
#include "protocol/actions/handler.h"

#include "protocol/actions/coalesce.h"
#include "protocol/actions/coalesce_packets.h"
#include "protocol/state/state.h"

namespace omx::protocol {

HandlerAction handler_call(State& s, const Arrival& arrival) {
  coalesce_release(s);
  const MayCoalescePackets none(s, false);
  return s.matching.handler(s.matching.handler_context, arrival);
}

}  // namespace omx::protocol
