// SPDX-License-Identifier: BSD-3-Clause
// The broker's loop: clients, boards, signals and changes of interfaces.
#pragma once

#include <sys/epoll.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/own_fd.h"
#include "tools/broker/broker_state.h"
#include "tools/broker/client.h"
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
  bool watch(int fd);
  void boards_watch();
  void orphans_watch();
  void event(int fd);
  void accept_all();
  void client_read(Client& client);
  void client_end(int fd);
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
  std::map<int, std::unique_ptr<Client>> clients_;
  std::map<int, std::uint32_t> voices_;   // descriptor to board
  std::map<int, std::uint32_t> orphans_;  // pidfd to slot
  std::int64_t sweep_at_ = 0;             // when to look for closed sockets; 0: never
  std::int64_t sweep_pause_ = 0;
  bool ends_ = false;
};

}  // namespace omx::broker
