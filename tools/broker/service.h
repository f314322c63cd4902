// SPDX-License-Identifier: BSD-3-Clause
// The broker's loop: clients, boards, signals and changes of interfaces.
#pragma once

#include <sys/epoll.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/own_fd.h"
#include "tools/broker/broker_state.h"
#include "tools/broker/client.h"
#include "tools/broker/disposal.h"
#include "tools/broker/requests.h"

namespace omx::broker {

class Service {
 public:
  // `listener` is a listening Unix socket (SOCK_SEQPACKET). `policy_file` is read again on SIGHUP; empty: the
  // usual one. The state must outlive the service.
  Service(BrokerState& state, OwnFd listener, std::string policy_file)
      : state_(state),
        requests_(state),
        listener_(std::move(listener)),
        policy_file_(std::move(policy_file)) {}

  // Opens what the loop waits for. Signals must be blocked: SIGTERM, SIGINT, SIGHUP.
  Result<void> open();
  // Serves until SIGTERM or SIGINT.
  void run();
  // Tells a client that waits for names of a board what the network answered.
  void named(std::uint32_t board, const BoardVoice::Name& name);

 private:
  // The source of an event of the loop. Its number is a client's, a board's or a grant's, and is never used
  // for another one, so an event that comes too late finds nothing.
  enum class Source : std::uint8_t { listener, signals, links, voice, client, orphan };

  static std::uint64_t tag(Source source, std::uint64_t number) {
    return static_cast<std::uint64_t>(source) << 56 | number;
  }
  bool watch(int fd, Source source, std::uint64_t number = 0);
  void unwatch(int fd) { ::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, fd, nullptr); }
  void boards_watch();
  void orphans_watch();
  void event(std::uint64_t concerned);
  void accept_some();
  bool client_accept(OwnFd socket);
  bool account_find(User& user);
  void listener_rest();
  void client_read(Client& client);
  void client_turn(Client& client);
  void client_end(ConnectionId id);
  void complain(const User& user, std::string_view what);
  void orphan_end(std::uint64_t serial);
  void signal_read();
  void links_read();
  void policy_read();
  void due(std::int64_t now);
  std::int64_t next_due(std::int64_t now) const;

  BrokerState& state_;
  Requests requests_;
  OwnFd listener_;
  const std::string policy_file_;
  OwnFd epoll_;
  OwnFd signals_;
  OwnFd links_;  // netlink: changes of interfaces
  std::map<ConnectionId, std::unique_ptr<Client>> clients_;
  ConnectionId last_id_ = kNoConnection;
  Disposal disposal_;
  std::int64_t sweep_at_ = 0;  // when to look for closed sockets; 0: never
  std::int64_t sweep_pause_ = 0;
  std::int64_t hooks_at_ = 0;   // when to look at the egress programs
  std::int64_t listen_at_ = 0;  // when to accept again after a shortage; 0: now
  bool ends_ = false;
};

}  // namespace omx::broker
