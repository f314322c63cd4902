// SPDX-License-Identifier: BSD-3-Clause
// Answers the requests of clients.
#pragma once

#include <cstdint>
#include <vector>

#include "base/own_fd.h"
#include "broker/message.h"
#include "tools/broker/broker_state.h"
#include "tools/broker/client.h"

namespace omx::broker {

class Requests {
 public:
  // The state must outlive the object.
  explicit Requests(BrokerState& state) : state_(state) {}

  // Answers one request.
  void answer(Client& client, const Request& request);

  // Why a grant ends. `replaced`: the same process gets the endpoint again. `exchanged`: and the former data
  // socket counts no more.
  enum class Ending : std::uint8_t { for_good, replaced, exchanged };
  // Revokes a grant, and says why in the log.
  void end(const GrantEntry& grant, std::string_view why, Ending ending = Ending::for_good);
  // Revokes what a client holds, because its connection ended.
  void leave(const Client& client);
  // Forgets ended grants whose sockets are closed. Returns how many sockets are left.
  std::size_t kept_forget();
  // Follows the NICs after a change.
  void boards_refresh();
  // Applies a policy that was read again: revokes what it no longer allows, and serves its
  // boards. Returns the connections whose grants were revoked, which the caller ends, so that their processes
  // learn of it.
  std::vector<ConnectionId> policy_set(Policy policy);

 private:
  void boards(const Client& client);
  Result<void> open(Client& client, const Request& request);
  Result<void> socket(const Client& client, const Request& request);
  Result<void> attach(const Client& client, const Request& request);
  Result<void> ask(Client& client, const Request& request);
  Result<ServedBoard*> board_of(const Client& client, const Request& request) const;
  Result<void> quota_take(const User& user, const Holding& more);
  Result<void> quota_exchange(const GrantEntry& former, const Holding& more);
  Result<OwnFd> classes_take(uid_t uid);
  // The former grant of an endpoint, and whether its data socket counts no more.
  struct Former {
    const GrantEntry* grant = nullptr;
    bool exchanged = false;
  };
  Result<void> grant_make(const Client& client, ServedBoard& board, std::uint8_t endpoint,
                          const link::RingGeometry& ring, const Former& former);
  Result<Grant> grant_of(const Client& client, const ServedBoard& board, std::uint8_t endpoint,
                         const ServedBoard::DataSocket& made);
  bool still_there(const GrantEntry& grant, std::uint64_t cookie) const;

  BrokerState& state_;
};

}  // namespace omx::broker
