// SPDX-License-Identifier: BSD-3-Clause
// Opens endpoints: chooses board and id, then sets up claim, link and engine.
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/fork_guard.h"
#include "config/settings.h"
#include "protocol/config.h"
#include "runtime/board/claim.h"
#include "runtime/board/peer_table.h"
#include "runtime/process/log_prefix.h"
#include "runtime/process/open_endpoints.h"
#include "runtime/process/open_options.h"
#include "runtime/process/process_boards.h"

namespace omx::runtime {

struct RailClaim;

class EndpointOpening {
 public:
  EndpointOpening(const Settings& settings, const ProcessBoards& boards, PeerTable& peers,
                  OpenEndpoints& endpoints, LogPrefix& prefix)
      : settings_(settings), boards_(boards), peers_(peers), endpoints_(endpoints), prefix_(prefix) {}

  // Does the work of Process::open().
  Result<Endpoint*> open(const OpenOptions& options);
  // Does the work of Process::rails_of().
  Result<std::vector<const Board*>> rails_of(const std::vector<Board>& boards, const Board& board,
                                             const std::string& wanted) const;

 private:
  Result<std::uint32_t> id_wanted(const OpenOptions& options) const;
  Result<Endpoint*> open_found(const OpenOptions& options);
  Result<Endpoint*> open_claimed(const std::vector<Board>& boards, const Board& board, std::uint32_t id,
                                 Claim claim, const OpenOptions& options, std::vector<RailClaim> rails);
  protocol::Config config_of(Endpoint& endpoint, const OpenOptions& options) const;
  static std::optional<std::vector<RailClaim>> rails_claim(const Board& board, std::uint32_t id,
                                                           const std::vector<const Board*>& others,
                                                           bool must);

  const Settings& settings_;
  const ProcessBoards& boards_;
  PeerTable& peers_;
  OpenEndpoints& endpoints_;
  LogPrefix& prefix_;
  ForkMark mark_;
  std::mutex mutex_;  // one thread opens at a time
};

}  // namespace omx::runtime
