// SPDX-License-Identifier: BSD-3-Clause
#include "protocol/events/received.h"

#include "protocol/counters.h"

namespace omx::protocol {

void rx_drop(State& s, wire::Drop reason) {
  switch (reason) {
    case wire::Drop::none:
      break;
    case wire::Drop::bad_checksum:
      s.count(Counter::drop_bad_checksum)++;
      break;
    case wire::Drop::bad_type:
      s.count(Counter::drop_unknown_type)++;
      break;
    case wire::Drop::frame_too_short:
    case wire::Drop::bad_length:
    case wire::Drop::truncated:
      s.count(Counter::drop_malformed)++;
      break;
  }
}

bool rx_checksum_ok(State& s, const Peer* p, wire::Frame frame) {
  if (!p || !p->agreed.checksum) return true;
  if (wire::checksum_verify(frame, p->agreed.mode)) return true;
  s.count(Counter::drop_bad_checksum)++;
  return false;
}

}  // namespace omx::protocol
