// SPDX-License-Identifier: BSD-3-Clause
// Names of NICs. Communication needs no table (connecting to any NIC id works); the table only translates
// "host:board" to NIC ids and back: local boards, a static file, the environment, and names learned from the
// network.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/expected.h"
#include "base/mac.h"

namespace omx::runtime {

struct Peer {
  NicId nic = 0;
  std::string name;  // empty: known but not named yet
  bool local = false;
  bool learned = false;  // the name came from the network: a later answer may change it
};

// Where OMX_PEERS_FILE names no other.
inline constexpr const char* kDefaultPeersFile = "/etc/open-mx/peers";

// Lines "MAC NAME", '#' comments, blank lines. A bad line fails with file:line and the reason.
// Also one name for two NICs or two names for one.
Result<std::vector<Peer>> peers_parse(const std::string& text, const std::string& origin);

// Thread-safe.
class PeerTable {
 public:
  // Adds or renames.
  void set(NicId nic, const std::string& name, bool local = false);
  // Adds without a name if unknown.
  void add(NicId nic);
  // A name that the network gave: it changes no name that was set here, and moves with its host to another
  // NIC.
  void learn(NicId nic, const std::string& name);
  std::optional<Peer> find(NicId nic) const;
  // Exact match first; then, if `name` has no ':', "name:0".
  std::optional<Peer> find(const std::string& name) const;
  std::vector<Peer> all() const;

  // What the network may add: others must not be able to fill our memory.
  static constexpr std::size_t kLearnedMax = 65536;

 private:
  const Peer* find_locked(const std::string& name) const;
  mutable std::mutex mutex_;
  std::map<NicId, Peer> peers_;
};

}  // namespace omx::runtime
