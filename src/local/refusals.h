// SPDX-License-Identifier: BSD-3-Clause
// Messages about processes of this host that we do not talk to. A frame to a NIC of this host never leaves
// it, so nothing else carries their messages, and the user has to know.
#pragma once

#include <sys/socket.h>

#include <cstdint>
#include <vector>

#include "base/own_fd.h"
#include "local/place.h"

namespace omx::local {

struct Hello;

// Says each thing once. Not thread-safe.
class Refusals {
 public:
  explicit Refusals(const Place& self) : self_(self) {}

  // Says that the endpoint belongs to another user, so that no message reaches it.
  void other_user(const Place& to, const ucred& who);
  // Says that no connection to the endpoint can be made now, for lack of a resource.
  void no_connection(const Place& to, int error);
  // Says that a peer cannot be let in for lack of a resource. The peer waits, and cannot be told why.
  void no_room(int error);
  // Says that a process of another user is not let in. Many processes only try whether an endpoint is open,
  // and send nothing: those are not reported.
  void unknown_peer(const OwnFd& connection, const ucred& who);
  // Says that a process uses another version of the rings.
  void other_version(const OwnFd& connection, const Hello& hello);

 private:
  bool told_before(std::uint64_t whom);

  Place self_;
  std::vector<std::uint64_t> told_;
};

}  // namespace omx::local
