// SPDX-License-Identifier: BSD-3-Clause
// The last events of an engine, for tools that look into a process that hangs (omx dump). Only the engine
// writes them, with a store or two for each message. They may be in memory that others read.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "protocol/types.h"

namespace omx::protocol {

// X(identifier, text)
#define OMX_EVENTS(X)                                \
  X(none, "nothing")                                 \
  X(sent, "sent")                                    \
  X(resent, "sent again")                            \
  X(matched, "arrived for a posted receive")         \
  X(unexpected, "arrived before its receive")        \
  X(pulled, "large message received")                \
  X(pull_repeated, "parts of a message asked again") \
  X(parked, "kept, as its receiver has no room")     \
  X(failed, "request failed")                        \
  X(connect_sent, "connect request sent")            \
  X(peer_restarted, "peer forgotten: restarted")     \
  X(peer_given_up, "peer forgotten: silent")         \
  X(peer_refused, "peer forgotten: it refused")      \
  X(peer_abandoned, "peer forgotten: it gave us up") \
  X(peer_disconnected, "peer forgotten: disconnected")

enum class Happened : std::uint8_t {
#define OMX_EVENT_ID(id, text) id,
  OMX_EVENTS(OMX_EVENT_ID)
#undef OMX_EVENT_ID
      count
};

inline constexpr std::array<const char*, static_cast<std::size_t>(Happened::count)> kEventTexts = {
#define OMX_EVENT_TEXT(id, text) text,
    OMX_EVENTS(OMX_EVENT_TEXT)
#undef OMX_EVENT_TEXT
};

struct Event {
  TimeNs at = 0;
  std::uint64_t match_info = 0;
  NicId nic = 0;  // of the peer; 0: none
  std::uint32_t length = 0;
  std::uint16_t seqnum = 0;
  std::uint8_t endpoint = 0;
  Happened what = Happened::none;
};

struct History {
  static constexpr std::size_t kEvents = 256;

  // Adds an event. Readers in other processes may see the oldest events change.
  void add(const Event& event) {
    events[count % kEvents] = event;
    std::atomic_ref(count).store(count + 1, std::memory_order_release);
  }

  std::uint64_t count = 0;  // events so far; the last is at (count - 1) % kEvents
  std::array<Event, kEvents> events;
};

}  // namespace omx::protocol
