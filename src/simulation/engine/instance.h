// SPDX-License-Identifier: BSD-3-Clause
// One opening of a host's endpoint, as the checkers see it: what it must do according to MX, beside what it
// does.
#pragma once

#include <cstdint>
#include <map>
#include <unordered_map>
#include <vector>

#include "protocol/state/request.h"
#include "simulation/engine/events.h"
#include "simulation/engine/matching_model.h"

namespace omx::simulation {

class Instance {
 public:
  Instance(std::uint32_t on_host, std::uint32_t in_session, std::size_t hosts, TimeNs now)
      : host(on_host), session(in_session), born(now), views(hosts) {}

  // The instance's view of another host.
  struct View {
    protocol::Peer* peer = nullptr;  // from the last connect; nullptr: none yet
    std::uint32_t session = 0;       // the session returned by that connect
    std::uint64_t losses = 0;        // how often the engine forgot the peer
    TimeNs last_loss = 0;
    bool joined = false;     // the engine is connected to the peer ...
    TimeNs joined_from = 0;  // ... because of frames sent after this time
    TimeNs heard = 0;        // when a frame came that proves that the peer lives
    TimeNs fetched = 0;      // when data of a large message came beyond all that had come of it
    std::unordered_map<std::uint32_t, std::uint32_t> fetched_to;  // the furthest data, by pull
    TimeNs last_failed_connect = 0;  // when a connect to the peer failed that the peer may have adopted
    TimeNs last_forgot_crashed = 0;  // when it forgot an instance that had crashed
  };

  std::uint32_t host;
  std::uint32_t session;
  TimeNs born;
  TimeNs crashed_at = protocol::kNever;
  MatchingModel matching;
  std::unordered_map<const protocol::Request*, std::uint64_t> posted;  // receives in the model, by request
  std::vector<View> views;
  std::map<const Instance*, std::uint64_t> newest;  // newest message that arrived, by sender

  bool crashed() const { return crashed_at != protocol::kNever; }
};

}  // namespace omx::simulation
