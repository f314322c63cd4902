// SPDX-License-Identifier: BSD-3-Clause
// What a transport counts. Written by the thread that owns the transport, and only grows.
#pragma once

#include <cstdint>

namespace omx::link {

struct LinkCounters {
  std::uint64_t frames_sent = 0, bytes_sent = 0, send_calls = 0, send_errors = 0;
  std::uint64_t frames_received = 0, bytes_received = 0, receive_batches = 0;
  std::uint64_t gso_batches_sent = 0,
                gso_batches_received = 0;         // several frames that passed the kernel as one
  std::uint64_t bulk_placed = 0, bulk_moved = 0;  // data that were received into their place, or elsewhere
  std::uint64_t ring_drops = 0;                   // frames the kernel dropped because our ring was full
  // Longer than a slot (the filter keeps own copies and others' frames out), or by UDP from nobody we know.
  std::uint64_t frames_ignored = 0;
  // For other endpoints, to our member of a packet fanout group: the group is not in order, or was not a
  // moment ago.
  std::uint64_t frames_misdirected = 0;
  std::uint64_t frames_by_xdp = 0;  // of those received
  std::uint64_t frames_alone = 0;   // of those received by UDP: by the socket of who talks with us alone
};

}  // namespace omx::link
