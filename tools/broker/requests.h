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

  // Answers one request. `descriptors` came with it.
  void answer(Client& client, const Request& request, std::vector<OwnFd> descriptors);
  // Returns how long such a request takes, about.
  static std::int64_t cost_ns(Kind kind);

  // Revokes a grant, and says why in the log.
  void end(const GrantEntry& grant, std::string_view why);
  // Revokes what a client holds, because its connection ended.
  void leave(const Client& client);
  // Forgets ended grants whose sockets are closed. Returns how many are left.
  std::size_t kept_forget();
  // Follows the NICs after a change.
  void boards_refresh();
  // Applies a policy that was read again: revokes what it no longer allows.
  void policy_set(Policy policy);

 private:
  void boards(const Client& client);
  Result<void> open(Client& client, const Request& request);
  Result<void> socket(const Client& client, const Request& request);
  Result<void> attach(const Client& client, const Request& request, std::vector<OwnFd> descriptors);
  Result<void> ask(Client& client, const Request& request);
  Result<ServedBoard*> board_of(const Client& client, const Request& request) const;
  Result<void> place_free(const Client& client, std::uint32_t board, std::uint8_t endpoint);
  Result<void> quota_take(const User& user, const Holding& more);
  std::uint32_t rate_number(const User& user);

  BrokerState& state_;
};

}  // namespace omx::broker
