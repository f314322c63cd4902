// SPDX-License-Identifier: BSD-3-Clause
// Everything inside an engine, as plain data. Callers of the engine use endpoint.h.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "base/buffer_pool.h"
#include "base/list.h"
#include "base/slab.h"
#include "protocol/config.h"
#include "protocol/counters.h"
#include "protocol/state/early_window.h"
#include "protocol/state/lane_types.h"
#include "protocol/state/matching.h"
#include "protocol/state/multi_receive.h"
#include "protocol/state/packing.h"
#include "protocol/state/partner.h"
#include "protocol/state/probe_watch.h"
#include "protocol/state/pull.h"
#include "protocol/state/pull_ports.h"
#include "protocol/state/rail_paths.h"
#include "protocol/state/regions.h"
#include "protocol/state/request.h"
#include "protocol/state/timer.h"
#include "protocol/state/unscheduled_data.h"
#include "protocol/state/waiting_memory.h"
#include "protocol/types.h"
#include "wire/frame_io.h"

namespace omx::protocol {

struct State {
  State(const Config& config, wire::FrameSink& sink, Counters& counters);
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  Config config;
  wire::FrameSink& sink;
  Counters& counters;
  TimeNs now = 0;     // of the call in progress; see running_time.h
  TimeNs absent = 0;  // time in which the engine was not run
  TimeNs default_timeout;
  bool closing = false, timeouts_differ = false;  // those of requests
  bool suspended = false;                         // see Endpoint::suspend

  // Memory. The pools outlive everything that holds their buffers: declared first.
  BufferPool buffers;        // unexpected messages, early frames
  BufferPool send_buffers;   // copies of buffered sends
  BufferPool segment_lists;  // bounded by the application's requests only: it must be able to post receives
  Slab<Request> requests;
  Slab<Unexpected> unexpected_slab;
  Slab<Pull> pulls;
  Slab<MultiReceive, 16> multis;
  Slab<EarlyWindow, 4> early_windows;
  Slab<Partner, 16> partner_slab;

  // Partners.
  std::vector<Partner*> partners;      // by index; 0 is ourselves
  std::vector<Partner*> partner_hash;  // chains by (nic, endpoint)
  Partner* last_partner = nullptr;
  Partner* myself = nullptr;
  std::uint32_t own_frame = 0;  // largest frame our interface carries

  // Matching and completion.
  PostedReceives posted;
  UnexpectedQueue unexpected;
  List<Unexpected, &Unexpected::all> claimed;  // taken out of it, and not yet received
  List<Request, &Request::done> done;
  std::vector<std::unique_ptr<List<Request, &Request::done_context>>> done_by_context;
  std::uint64_t completions = 0;
  std::uint32_t zombies = 0;
  Room room;
  Request* uncopied = nullptr;  // see SendOp::copy_later; on its way
  UnexpectedHandler handler = nullptr;
  void* handler_context = nullptr;

  Regions regions;  // of large sends
  List<Partner, &Partner::region_wait> region_waiters;

  // Pulls by slot of their handle.
  std::vector<PullSlot> pull_slots;
  std::vector<std::uint16_t> pull_free;
  List<Pull, &Pull::all> pull_list;     // running
  List<Pull, &Pull::all> pull_waiting;  // for a slot
  List<Pull, &Pull::all> pull_copying;  // all data are here, but not all in their place
  PullSchedule pulling;
  std::array<PullExpected, kRailsMost> expected;  // by rail
  std::uint32_t pull_age = 0;                     // of the youngest
  bool bulk_seen = false;                         // a pull so large that a lane of its own pays
  LaneOwners lane_owners;
  // Boards (rails.cc).
  RailAliases rail_aliases;
  std::uint64_t rail_probes = 0;
  std::uint8_t rails_gone = 0;  // bit i: that one has no carrier
  std::uint8_t rx_rail = 0;     // by which the frame in work came,
  NicId rx_nic = 0;             // from whom
  // What was announced may come by the UDP lane.
  LaneAwaited lane_awaited;
  Unasked unasked;
  // How large messages that run now were asked for.
  bool pulls_by_lane = false, pulls_by_link = false;

  Partner* silent = nullptr;  // the last connect to it had no answer
  // Of the conversation that ends now, see PeerNews.
  std::uint32_t ending_failed = 0, ending_lost = 0;
  std::vector<ProbeWatch> probe_watches;
  std::deque<PeerNews> news;           // see news.h
  List<Request, &Request::done> lost;  // sends that failed after they were complete for the application
  TimeNs probes_since = 0;             // so many connects ...
  std::uint32_t probes_sent = 0;       // ... began a probe since then (probe.cc)

  Packing packing;

  TimerHeap timers;
  List<Partner, &Partner::ack_now> ack_now;

  std::uint64_t& count(Counter id) { return counters[id]; }
  // What Config::buffer_bytes bounds.
  std::size_t buffers_held() const {
    return buffers.in_use() + (unexpected_slab.live() - room.envelopes) * sizeof(Unexpected) +
           early_windows.live() * sizeof(EarlyWindow);
  }
  // Whether one more message of `bytes` stays within it.
  bool room_for_unexpected(std::size_t bytes) const {
    const std::size_t buffer = bytes > 0 ? BufferPool::capacity_of(bytes) : 0;
    return buffers_held() + sizeof(Unexpected) + buffer <= buffers.limit();
  }
};

}  // namespace omx::protocol
