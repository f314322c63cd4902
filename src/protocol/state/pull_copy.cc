// SPDX-License-Identifier: BSD-3-Clause
#include "protocol/state/pull_copy.h"

#include "protocol/counters.h"
#include "protocol/offload.h"
#include "protocol/state/pull.h"
#include "protocol/state/segments.h"
#include "protocol/state/state.h"

namespace omx::protocol {

bool pull_copies_run(State& s, const Pull& pull) {
  return pull.copies_last != 0 && pull.copies_last > s.config.offload->completed();
}

namespace {

bool copies_failed(const State& s, const Pull& pull) {
  return pull.copies_last != 0 && s.config.offload->failed(pull.copies_first, pull.copies_last);
}

}  // namespace

void pull_copy(State& s, Pull& pull, std::uint64_t offset, const std::byte* data, std::uint32_t length,
               bool last) {
  const SegmentList& to = pull.request->segments;
  if (!s.config.offload || last) return to.write(offset, data, length);
  to.for_range(offset, length, [&](std::byte* place, std::uint64_t bytes) {
    std::uint64_t ticket = 0;
    const auto answer = s.config.offload->copy({place, data, bytes, offset, pull.length, pull.age}, ticket);
    if (answer == Offload::Answer::refused) __builtin_memcpy(place, data, bytes);
    if (answer == Offload::Answer::later) {
      if (pull.copies_last == 0) pull.copies_first = ticket;
      pull.copies_last = ticket;
      s.count(Counter::pull_copy_offloaded)++;
    }
    data += bytes;
    offset += bytes;
  });
}

bool pull_waits_for_copies(State& s, Pull& pull, Status& status) {
  if (pull.copies_last == 0) return false;
  // The application may use the memory as soon as the failure is reported, so all copies must have ended.
  if (status != Status::success) {
    s.config.offload->drain();
    return false;
  }
  if (pull_copies_run(s, pull)) {
    if (pull.copies_since == 0) pull.copies_since = s.now;
    return true;
  }
  if (copies_failed(s, pull)) status = Status::aborted;
  s.config.offload->ended(pull.length, pull.copies_since ? s.now - pull.copies_since : 0);
  return false;
}

void copies_tend(State& s) {
  if (s.config.offload) s.config.offload->completed();
}

}  // namespace omx::protocol
