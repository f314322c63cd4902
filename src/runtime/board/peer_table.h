// SPDX-License-Identifier: BSD-3-Clause
// Names of NICs. Communication needs no table, since connecting to any NIC id works. The table only
// translates "host:board" to NIC ids and back. Its names come from local boards, a static file, the
// environment and the network.
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

// Used unless OMX_PEERS_FILE names another file.
inline constexpr const char* kDefaultPeersFile = "/etc/open-mx/peers";

// Parses lines "MAC NAME", with '#' comments and blank lines. A bad line fails with file:line and the
// reason. So does one name for two NICs, or two names for one NIC.
Result<std::vector<Peer>> peers_parse(const std::string& text, const std::string& origin);

// Thread-safe.
class PeerTable {
 public:
  // Adds a NIC, or renames it.
  void set(NicId nic, const std::string& name, bool local = false);
  // Adds a NIC without a name if it is unknown.
  void add(NicId nic);
  // Takes a name from the network. Such a name replaces none that set() gave. It moves to another NIC if its
  // host does.
  void learn(NicId nic, const std::string& name);
  std::optional<Peer> find(NicId nic) const;
  // Finds an exact match first. If `name` has no ':', "name:0" is tried next.
  std::optional<Peer> find(const std::string& name) const;
  std::vector<Peer> all() const;

  // How many NICs the network may add: other hosts must not be able to fill our memory.
  static constexpr std::size_t kLearnedMax = 65536;

 private:
  const Peer* find_locked(const std::string& name) const;
  mutable std::mutex mutex_;
  std::map<NicId, Peer> peers_;
};

}  // namespace omx::runtime
