// SPDX-License-Identifier: BSD-3-Clause
#include "protocol/actions/handler.h"

#include "protocol/actions/pack.h"
#include "protocol/actions/share.h"
#include "protocol/state/state.h"

namespace omx::protocol {

HandlerAction handler_call(State& s, const Arrival& arrival) {
  pack_release(s);
  const Gathers none(s, false);
  return s.matching.handler(s.matching.handler_context, arrival);
}

}  // namespace omx::protocol
