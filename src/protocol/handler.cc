// SPDX-License-Identifier: BSD-3-Clause
#include "protocol/handler.h"

#include "protocol/pack.h"
#include "protocol/share.h"
#include "protocol/state.h"

namespace omx::protocol {

HandlerAction handler_call(State& s, const Arrival& arrival) {
  pack_release(s);
  const Gathers none(s, false);
  return s.handler(s.handler_context, arrival);
}

}  // namespace omx::protocol
