// SPDX-License-Identifier: BSD-3-Clause
// What the broker of this host offers to this process's user, and the names that it learns from the network.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/expected.h"
#include "base/mac.h"
#include "broker/connection.h"

namespace omx::broker {

struct BoardOffer {
  std::string interface;
  std::string hostname;  // "host:number", as peers know the board
  NicId nic = 0;         // the source address of the board's frames
  NicId mac = 0;         // of the interface itself
  std::uint32_t ifindex = 0;
  std::uint32_t mtu = 0;
  bool trusted = false;  // the sockets are on the interface itself
  bool up = false;
  bool running = false;
};

// Returns the boards that this user may have, in the broker's order. The failure is one sentence. Waits for
// kStartPatience at most.
Result<std::vector<BoardOffer>> boards_offered(const std::string& path);

// Asks the network for names by way of the broker. Not thread-safe.
class NamesAsked {
 public:
  static Result<NamesAsked> open(const std::string& path, const std::string& interface);
  // Asks for the name of a NIC, or of all NICs with kBroadcastNic.
  void ask(NicId nic);
  struct Name {
    NicId nic = 0;
    std::string name;
    bool by_broker = false;  // a broker answered for the NIC
  };
  // Returns the names that have come.
  std::vector<Name> receive();
  // Returns why the broker gives no names: its first refusal, or its end.
  const std::optional<Failure>& failure() const { return failure_; }
  // Returns whether the broker is gone, so that no more names come.
  bool ended() const { return connection_.ended(); }
  // Is -1 when the broker is gone.
  int descriptor() const { return ended() ? -1 : connection_.descriptor(); }

 private:
  NamesAsked(Connection connection, std::string interface)
      : connection_(std::move(connection)), interface_(std::move(interface)) {}

  Connection connection_;
  std::string interface_;
  std::optional<Failure> failure_;
};

}  // namespace omx::broker
