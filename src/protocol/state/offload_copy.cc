// SPDX-License-Identifier: BSD-3-Clause
#include "protocol/state/offload_copy.h"

#include "protocol/counters.h"
#include "protocol/state/segments.h"
#include "protocol/state/state.h"

namespace omx::protocol {

void offload_write(State& s, const OffloadPlace& place, const std::byte* data, std::uint32_t length,
                   const Offload::Message& message, OffloadTickets& tickets) {
  std::uint64_t offset = place.offset;
  place.to.for_range(offset, length, [&](std::byte* to, std::uint64_t bytes) {
    std::uint64_t ticket = 0;
    const auto answer = s.config.offload->copy({to, data, bytes, offset, message}, ticket);
    if (answer == Offload::Answer::refused) __builtin_memcpy(to, data, bytes);
    if (answer == Offload::Answer::later) {
      if (tickets.last == 0) tickets.first = ticket;
      tickets.last = ticket;
      s.count(message.medium ? Counter::medium_copy_offloaded : Counter::pull_copy_offloaded)++;
    }
    data += bytes;
    offset += bytes;
  });
}

bool offload_runs(State& s, const OffloadTickets& tickets) {
  return tickets.last != 0 && tickets.last > s.config.offload->completed();
}

bool offload_failed(const State& s, const OffloadTickets& tickets) {
  return tickets.last != 0 && s.config.offload->failed(tickets.first, tickets.last);
}

}  // namespace omx::protocol
