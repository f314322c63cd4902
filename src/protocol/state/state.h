// SPDX-License-Identifier: BSD-3-Clause
// Everything inside an engine, as plain data. Callers of the engine use endpoint.h.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <limits>
#include <memory>
#include <vector>

#include "base/buffer_pool.h"
#include "base/list.h"
#include "base/slab.h"
#include "protocol/config.h"
#include "protocol/counters.h"
#include "protocol/state/bulk_owners.h"
#include "protocol/state/bulk_types.h"
#include "protocol/state/coalescing.h"
#include "protocol/state/eager_window.h"
#include "protocol/state/matching.h"
#include "protocol/state/multi_receive.h"
#include "protocol/state/peer.h"
#include "protocol/state/peer_table.h"
#include "protocol/state/probe_watch.h"
#include "protocol/state/pull.h"
#include "protocol/state/pull_ports.h"
#include "protocol/state/rail_paths.h"
#include "protocol/state/region_waiters.h"
#include "protocol/state/regions.h"
#include "protocol/state/reorder_buffer.h"
#include "protocol/state/request.h"
#include "protocol/state/share_pace.h"
#include "protocol/state/timer.h"
#include "protocol/state/unscheduled_data.h"
#include "protocol/state/waiting_memory.h"
#include "protocol/types.h"
#include "wire/frame_io.h"

namespace omx::protocol {

// Memory of an engine. The pools must outlive everything that holds their buffers, so State declares it
// early.
struct EngineMemory {
  explicit EngineMemory(const Config& config)
      : buffers(config.buffer_bytes),
        send_buffers(config.send_buffer_bytes),
        segment_lists(std::numeric_limits<std::size_t>::max()) {}

  BufferPool buffers;        // unexpected messages and frames in the reorder buffer
  BufferPool send_buffers;   // copies of buffered sends
  BufferPool segment_lists;  // not limited, because the application must always be able to post receives
  Slab<Request> requests;
  Slab<Unexpected> unexpected_slab;
  Slab<Pull> pulls;
  Slab<PeerPulls, 16> peer_pulls;
  Slab<MultiReceive, 16> multi_receives;
  Slab<Partial, 16> partials;
  Slab<ReorderBuffer, 4> reorder_buffers;
  Slab<EagerWindow, 16> eager_windows;
  Slab<BulkDistrust, 16> bulk_distrusts;
};

struct EnginePeers {
  PeerTable by_index;  // [0] is this endpoint itself
  // The first peers of the chains by (nic, endpoint): 1 + their index; 0: none.
  std::vector<std::uint32_t> chains = std::vector<std::uint32_t>(64);
  Peer* last_found = nullptr;
  Peer* myself = nullptr;
  Peer* silent = nullptr;  // peer whose last connect had no answer
};

// Messages and receives that wait for each other.
struct EngineMatching {
  PostedReceives posted;
  UnexpectedQueue unexpected;
  List<Unexpected, &Unexpected::all> claimed;  // taken out of the queue, not yet received
  UnexpectedHandler handler = nullptr;
  void* handler_context = nullptr;
};

struct EngineCompletion {
  List<Request, &Request::done> done;
  std::vector<std::unique_ptr<List<Request, &Request::done_context>>> done_by_context;
  std::uint64_t completions = 0;
  List<Request, &Request::done> lost;  // sends that failed after they were complete for the application
  Request* uncopied = nullptr;         // send to copy later, now on its way (SendAdvice::copy_later)
  std::uint32_t buffered_sends = 0;
};

// Pulls, by the slot of their handle, and the ways by which they were asked for.
struct EngineTransfers {
  std::vector<PullSlot> pull_slots;
  std::vector<std::uint16_t> pull_free;
  List<Pull, &Pull::all> pull_list;     // running
  List<Pull, &Pull::all> pull_waiting;  // waiting for a slot
  List<Pull, &Pull::all> pull_copying;  // all data have arrived, some copies still run
  List<Pull, &Pull::all> pull_sharing;  // read from the end, while frames come (pull_share.cc)
  SharePace share_pace;
  std::array<PullExpected, kRailsMost> expected;  // by board
  Unscheduled unscheduled;
  std::uint32_t pull_age = 0;  // age of the youngest pull
  bool bulk_seen = false;      // a pull was large enough for a bulk path of its own to pay
  bool frame_passes = false;   // the frame being processed is a copy that is freed next (reorder_drain.cc)
  // The ways by which running large messages were asked for.
  bool pulls_by_bulk = false, pulls_by_link = false;
};

// Boards (rails.cc).
struct EngineRails {
  RailAliases rail_aliases;
  std::uint64_t rail_probes = 0;
  NicId rx_nic = 0;             // the NIC that sent the frame being processed,
  std::uint8_t rx_rail = 0;     // and our board by which it came
  std::uint8_t rails_gone = 0;  // bit i: board i has no carrier
};

// Bulk paths.
struct EngineBulk {
  explicit EngineBulk(const PeerTable& peers) : owners(peers) {}

  BulkOwners owners;
  BulkAwaited awaited;  // announced data that may come by the bulk path
};

// Reports to the application about its peers.
struct EngineReports {
  std::deque<PeerNews> news;  // see news.h
  std::vector<ProbeWatch> probe_watches;
  std::uint32_t ending_failed = 0, ending_lost = 0;  // messages of the conversation that ends now (PeerNews)
};

// How many connects began a probe, and since when (probe.cc).
struct EngineProbing {
  TimeNs probes_since = 0;
  std::uint32_t probes_sent = 0;
};

struct State {
  State(const Config& config, wire::FrameSink& sink, Counters& counters);
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  Config config;
  wire::FrameSink& sink;
  Counters& counters;
  TimeNs now = 0;     // time of the call in progress (running_time.h)
  TimeNs absent = 0;  // time in which the engine was not run
  TimeNs default_timeout;
  bool closing = false, timeouts_differ = false;  // timeouts_differ: requests have different time-outs
  bool suspended = false;                         // see Endpoint::suspend
  bool marked = false;                            // see EndpointDriving::frames_marked
  bool marks_forgone = false;                     // queues may not mark our frames (ECN)
  std::uint8_t marks_refuser_endpoint = 0;        // of the first peer that heeds no marks
  NicId marks_refuser = 0;                        // its NIC
  std::uint32_t own_frame = 0;                    // largest frame that our interface carries

  EngineMemory memory;
  EnginePeers peers;
  EngineMatching matching;
  EngineCompletion completion;
  Room room;
  Regions regions;  // of large sends
  RegionWaiters region_waiters;
  PullSchedule pulling;
  EngineTransfers transfers;
  EngineRails rails;
  EngineBulk bulk;
  EngineReports reports;
  EngineProbing probing;
  Coalescing coalescing;
  TimerHeap timers;
  List<Peer, &Peer::ack_now> ack_now;

  std::uint64_t& count(Counter id) { return counters[id]; }
  // Returns the bytes that Config::buffer_bytes bounds.
  std::size_t buffers_held() const {
    return memory.buffers.in_use() + (memory.unexpected_slab.live() - room.envelopes) * sizeof(Unexpected) +
           memory.reorder_buffers.live() * sizeof(ReorderBuffer);
  }
  // Returns whether one more message of `bytes` stays within that bound.
  bool room_for_unexpected(std::size_t bytes) const {
    const std::size_t buffer = bytes > 0 ? BufferPool::capacity_of(bytes) : 0;
    return buffers_held() + sizeof(Unexpected) + buffer <= memory.buffers.limit();
  }
};

}  // namespace omx::protocol
