// SPDX-License-Identifier: BSD-3-Clause
// The counters of a transport. Only the thread that owns the transport writes them, and they only grow.
#pragma once

#include <cstdint>

namespace omx::link {

struct LinkCounters {
  std::uint64_t frames_sent = 0, bytes_sent = 0, send_calls = 0, send_errors = 0;
  std::uint64_t frames_received = 0, bytes_received = 0, receive_batches = 0;
  std::uint64_t gso_batches_sent = 0,
                gso_batches_received = 0;  // several frames that passed the kernel as one
  // Batches that left without a copy (MSG_ZEROCOPY), their bytes, and those that the kernel copied after all.
  std::uint64_t zerocopy_batches = 0, zerocopy_bytes = 0, zerocopy_copied = 0;
  std::uint64_t ring_frames_sent = 0;             // raw frames from a ring that the kernel shares
  std::uint64_t bulk_placed = 0, bulk_moved = 0;  // data received into their place; data that had to be moved
  std::uint64_t ring_drops = 0;                   // frames that the kernel dropped because our ring was full
  // Frames that were longer than a ring slot, or came by UDP from an unknown host. The filter keeps out
  // copies of what we send and frames for other endpoints.
  std::uint64_t frames_ignored = 0;
  // Frames for other endpoints that reached our member of a packet fanout group. The group's program does
  // not fit the order of its members, or did not a moment ago.
  std::uint64_t frames_misdirected = 0;
  std::uint64_t frames_by_xdp = 0;  // received frames that came by AF_XDP
  std::uint64_t frames_alone = 0;   // received UDP frames that came by the connected fast-path socket
};

}  // namespace omx::link
