// SPDX-License-Identifier: BSD-3-Clause
// One life of a host's endpoint, as the checkers see it: what MX says it must do beside what it does.
#pragma once

#include <cstdint>
#include <map>
#include <unordered_map>
#include <vector>

#include "protocol/request.h"
#include "simulation/engine/events.h"
#include "simulation/engine/matching_model.h"

namespace omx::simulation {

class Instance {
 public:
  Instance(std::uint32_t on_host, std::uint32_t in_session, std::size_t hosts, TimeNs now)
      : host(on_host), session(in_session), born(now), peers(hosts) {}

  // What it knows of another host.
  struct Peer {
    protocol::Partner* partner = nullptr;  // from the last connect; nullptr: none yet
    std::uint32_t session = 0;             // that it was told then
    std::uint64_t losses = 0;              // how often the engine forgot it
    TimeNs last_loss = 0;
    bool joined = false;             // the engine is connected to it ...
    TimeNs joined_from = 0;          // ... because of frames that were sent after this
    TimeNs heard = 0;                // when a frame came that proves that it lives
    TimeNs last_failed_connect = 0;  // when a connect to it failed that it may have taken up
    TimeNs last_forgot_crashed = 0;  // when it forgot an instance that had died
  };

  std::uint32_t host;
  std::uint32_t session;
  TimeNs born;
  TimeNs crashed_at = protocol::kNever;
  MatchingModel matching;
  std::unordered_map<const protocol::Request*, std::uint64_t> posted;  // receives in the model, by request
  std::vector<Peer> peers;
  std::map<const Instance*, std::uint64_t> newest;  // message that arrived, by sender

  bool crashed() const { return crashed_at != protocol::kNever; }
};

}  // namespace omx::simulation
