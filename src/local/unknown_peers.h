// SPDX-License-Identifier: BSD-3-Clause
// Processes that have connected and have not sent a hello yet.
#pragma once

#include <vector>

#include "base/own_fd.h"
#include "local/descriptor_set.h"
#include "local/incoming.h"
#include "local/refusals.h"

namespace omx::local {

// Not thread-safe.
class UnknownPeers {
 public:
  // `listener` is the socket that peers connect to; it is not owned.
  UnknownPeers(int listener, DescriptorSet& descriptors, Refusals& refusals, Incoming& incoming);

  // Replaces the socket that peers connect to. Returns false, with errno, when a connection to it would not
  // wake us; then the former one stays.
  bool listener_set(int listener);
  // Returns whether a connection of a peer wakes us.
  bool listens() const { return listens_; }
  // Accepts connections, and lets in the peers that have sent a hello.
  void hear();
  // Returns whether no peer can be let in now, for lack of descriptors or memory. The caller has to try
  // again, because no event tells when there are some.
  bool masked() const { return masked_; }

 private:
  void accept();
  bool hear(OwnFd& connection);

  DescriptorSet& descriptors_;
  Refusals& refusals_;
  Incoming& incoming_;
  int listener_;
  bool listens_;
  bool masked_ = false;
  std::vector<OwnFd> connections_;
};

}  // namespace omx::local
