// SPDX-License-Identifier: BSD-3-Clause
// The state of an engine at a moment. It is bounded and has no pointers, so it may be in memory that others
// read (omx top, omx dump).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "protocol/types.h"
#include "wire/packets.h"

namespace omx::protocol {

// A peer. Its figures count from the time when it became known.
struct PeerRow {
  NicId nic = 0;
  std::uint8_t endpoint = 0;
  bool self = false, connected = false, extended = false;
  bool intra_node = false;
  bool bulk_in = false, bulk_out = false;  // large messages by the bulk path
  std::uint32_t queued = 0;                // sends that wait for the window
  std::uint32_t unacked = 0;               // sends and NOTIFYs that were not acknowledged
  std::uint32_t unfinished = 0;            // large sends that were not fetched
  std::uint32_t connecting = 0;            // connect requests without an answer
  std::uint32_t pulls = 0;                 // large messages that are being fetched
  std::uint32_t frames_unacked = 0;
  std::uint32_t frame_max = 0;  // bytes, proven
  std::uint64_t unexpected_bytes = 0;
  std::uint64_t messages_sent = 0, bytes_sent = 0, messages_received = 0, bytes_received = 0;
  std::uint64_t resends = 0;
  TimeNs last_heard = 0;
  TimeNs round_trip = 0;          // smoothed; 0: not known
  TimeNs round_trip_least = 0;    // 0: not known
  std::uint32_t window = 0;       // bytes of messages that may be on their way unasked; 0: not bounded
  bool window_contended = false;  // a smaller window did not shorten the queue on the way
};

// The large messages that an endpoint asks for by one of its boards (docs/explanation/congestion.md).
struct PullRow {
  std::uint32_t window = 0;                     // bytes that may be on their way
  std::uint64_t in_flight = 0;                  // bytes that are
  bool contended = false;                       // as window_contended of PeerRow
  TimeNs round_trip = 0, round_trip_least = 0;  // 0: not known
  bool paced = false;  // the window is smaller than a request, so requests wait for their time
};

struct PendingRow {
  enum class What : std::uint8_t { send, receive, connect, message };
  What what = What::send;   // message: arrived, and not received yet
  bool known_peer = false;  // nic and endpoint name the peer
  bool forgotten = false;   // the application does not wait for its completion
  bool has_number = false;
  std::uint8_t endpoint = 0;
  std::uint8_t phase = 0;       // Phase
  std::uint8_t send_class = 0;  // SendClass
  std::uint16_t seqnum = 0;
  std::uint16_t resends = 0;
  NicId nic = 0;
  std::uint64_t match_info = 0, match_mask = 0;
  std::uint64_t length = 0;  // of the message, or the room for it
  TimeNs since = 0;          // 0: not known
};

// Whether queues may mark what an endpoint sends by UDP (ECN).
struct MarksRow {
  bool forgone = false;  // they may not
  bool by_peer = false;  // because of the first peer that heeds no marks; else the setting says so
  NicId refuser = 0;     // that peer
  std::uint8_t refuser_endpoint = 0;
};

struct Snapshot {
  static constexpr std::size_t kPeers = 64, kPending = 128;
  // Most entries of a list that are visited.
  static constexpr std::uint32_t kLook = 4096;

  TimeNs at = 0;  // CLOCK_MONOTONIC
  std::uint64_t posted = 0, unexpected = 0, done = 0, buffered_sends = 0, requests = 0;
  std::uint64_t unexpected_bytes = 0;
  std::uint32_t pulls_running = 0, pulls_waiting = 0;
  std::array<PullRow, wire::kRailsMost> pull{};
  std::uint32_t pull_rows = 0;
  MarksRow marks;
  std::uint32_t peers = 0;
  // Rows of peers: first those with something pending, then those heard last. Rows of pending requests: first
  // sends, then receives and unexpected messages.
  std::uint32_t peer_rows = 0, pending_rows = 0;
  bool pending_cut = false;  // there are more rows
  std::array<PeerRow, kPeers> peer;
  std::array<PendingRow, kPending> pending;
};

}  // namespace omx::protocol
