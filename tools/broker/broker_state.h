// SPDX-License-Identifier: BSD-3-Clause
// All that a running broker knows.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "netdev/socket_buffer.h"
#include "tools/broker/accounts.h"
#include "tools/broker/grants.h"
#include "tools/broker/kernel/grant_map.h"
#include "tools/broker/pace.h"
#include "tools/broker/policy.h"
#include "tools/broker/quota.h"
#include "tools/broker/rates.h"
#include "tools/broker/served_board.h"
#include "tools/broker/spare_maps.h"

namespace omx::broker {

// The memory of a data socket's send buffer that counts as its user's. The kernel charges up to twice the
// size.
inline constexpr std::uint64_t kSendBytes = std::uint64_t{2} * link::kSocketBuffer;

// Is told the names that the network gives.
using Named = std::function<void(std::uint32_t board, const BoardVoice::Name&)>;

struct BrokerState {
  BrokerState(Policy policy_in, Accounts accounts_in, GrantMaps maps_in, const Holding& total)
      : policy(std::move(policy_in)),
        accounts(std::move(accounts_in)),
        maps(std::move(maps_in)),
        quota(total, policy.file) {}

  Policy policy;
  Accounts accounts;
  GrantMaps maps;
  Quota quota;
  Grants grants{kSlots};
  std::vector<std::unique_ptr<ServedBoard>> boards;  // by number; one that is taken down stays, as retired
  std::map<std::string, link::Interface> unserved;   // boards that could not be served, as they were then
  Named named;
  std::map<uid_t, Pace> paces;
  std::map<uid_t, User> accounts_seen;  // of users that asked, as the databases have them
  Pace lookups;                         // in the databases
  SpareMaps spare_classes;
  Rates rates{maps};

  ServedBoard* board_named(const std::string& name) const {
    for (const auto& board : boards)
      if (!board->retired() && board->name() == name) return board.get();
    return nullptr;
  }
};

}  // namespace omx::broker
