// SPDX-License-Identifier: BSD-3-Clause
#include "protocol/state/pull_copy.h"

#include "protocol/state/offload_copy.h"
#include "protocol/state/pull.h"
#include "protocol/state/segments.h"
#include "protocol/state/state.h"

namespace omx::protocol {

bool pull_copies_run(State& s, const Pull& pull) {
  return offload_runs(s, pull.copies);
}

void pull_copy(State& s, Pull& pull, std::uint64_t offset, const std::byte* data, std::uint32_t length,
               bool last) {
  const SegmentList& to = pull.request->segments;
  if (!s.config.offload || last) return to.write(offset, data, length);
  offload_write(s, {to, offset}, data, length, {.bytes = pull.length, .number = pull.age}, pull.copies);
}

bool pull_waits_for_copies(State& s, Pull& pull, Status& status) {
  if (pull.copies.last == 0) return false;
  // The application may use the memory as soon as the failure is reported, so all copies must have ended.
  if (status != Status::success) {
    s.config.offload->drain();
    return false;
  }
  if (pull_copies_run(s, pull)) {
    if (pull.copies_since == 0) pull.copies_since = s.now;
    return true;
  }
  if (offload_failed(s, pull.copies)) status = Status::aborted;
  s.config.offload->ended(pull.length, pull.copies_since ? s.now - pull.copies_since : 0);
  return false;
}

void copies_tend(State& s) {
  if (s.config.offload) s.config.offload->completed();
}

}  // namespace omx::protocol
