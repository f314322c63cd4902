// SPDX-License-Identifier: BSD-3-Clause
#include "protocol/state/medium_copy.h"

#include "protocol/state/offload_copy.h"
#include "protocol/state/peer.h"
#include "protocol/state/request.h"
#include "protocol/state/state.h"

namespace omx::protocol {

void medium_copy(State& s, Partial& partial, std::uint32_t offset, const std::byte* data,
                 std::uint32_t length, bool last) {
  const SegmentList& to = partial.request->segments;
  if (!s.config.offload || last || s.transfers.frame_passes) return to.write(offset, data, length);
  offload_write(s, {to, offset}, data, length,
                {.bytes = partial.msg_length, .number = partial.number, .medium = true}, partial.copies);
}

bool medium_copied(State& s, const Partial& partial) {
  if (partial.copies.last == 0) return true;
  if (offload_runs(s, partial.copies)) s.config.offload->drain();
  return !offload_failed(s, partial.copies);
}

}  // namespace omx::protocol
