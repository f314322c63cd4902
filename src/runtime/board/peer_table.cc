// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/board/peer_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>

#include "base/text.h"
#include "wire/packets.h"

namespace omx::runtime {

namespace {

constexpr int kMxFailure = 2;

std::string line_error(const std::string& origin, int line, const std::string& why) {
  return fmt::format("{}:{}: {}; write \"MAC NAME\", for example \"02:00:00:00:00:01 node1:0\"",
                     shown(origin, kPathShown), line, why);
}

}  // namespace

Result<std::vector<Peer>> peers_parse(const std::string& text, const std::string& origin) {
  std::vector<Peer> peers;
  std::map<NicId, int> nics;
  std::map<std::string, int> names;
  std::istringstream lines(text);
  std::string line;
  for (int number = 1; std::getline(lines, line); number++) {
    std::istringstream words(line.substr(0, line.find('#')));
    std::string mac, name, extra;
    if (!(words >> mac)) continue;
    const auto bad = [&](const std::string& why) {
      return fail(kMxFailure, line_error(origin, number, why));
    };
    const auto nic = mac_parse(mac);
    if (!nic) return bad(fmt::format("\"{}\" is not a MAC address", shown(mac)));
    if (!(words >> name)) return bad(fmt::format("no name behind {}", mac));
    if (words >> extra) return bad(fmt::format("\"{}\" behind the name \"{}\"", shown(extra), shown(name)));
    if (name.size() >= wire::kHostnameMax)
      return bad(
          fmt::format("the name \"{}\" has more than {} characters", shown(name), wire::kHostnameMax - 1));
    if (std::any_of(name.begin(), name.end(), [](unsigned char c) { return c < ' ' || c == 0x7f; }))
      return bad(fmt::format("the name \"{}\" has control characters", shown(name)));
    if (const auto [at, fresh] = nics.emplace(*nic, number); !fresh)
      return bad(fmt::format("{} was named in line {} already", mac, at->second));
    if (const auto [at, fresh] = names.emplace(name, number); !fresh)
      return bad(fmt::format("\"{}\" names another NIC in line {}", shown(name), at->second));
    Peer peer;
    peer.nic = *nic;
    peer.name = name;
    peers.push_back(std::move(peer));
  }
  return peers;
}

void PeerTable::set(NicId nic, const std::string& name, bool local) {
  const std::lock_guard guard(mutex_);
  peers_[nic] = Peer{nic, name, local, false};
}

void PeerTable::add(NicId nic) {
  const std::lock_guard guard(mutex_);
  if (peers_.size() < kLearnedMax) peers_.emplace(nic, Peer{nic, {}, false, true});
}

void PeerTable::learn(NicId nic, const std::string& name) {
  const std::lock_guard guard(mutex_);
  const auto known = peers_.find(nic);
  if (known != peers_.end() && (known->second.name == name || !known->second.learned)) return;
  if (known == peers_.end() && peers_.size() >= kLearnedMax) return;
  const auto same = std::find_if(peers_.begin(), peers_.end(),
                                 [&](const auto& entry) { return entry.second.name == name; });
  if (same != peers_.end()) {
    if (!same->second.learned) return;
    same->second.name.clear();
  }
  peers_[nic] = Peer{nic, name, false, true};
}

std::optional<Peer> PeerTable::find(NicId nic) const {
  const std::lock_guard guard(mutex_);
  const auto it = peers_.find(nic);
  if (it == peers_.end()) return std::nullopt;
  return it->second;
}

const Peer* PeerTable::find_locked(const std::string& name) const {
  const auto it = std::find_if(peers_.begin(), peers_.end(),
                               [&](const auto& entry) { return entry.second.name == name; });
  return it == peers_.end() ? nullptr : &it->second;
}

std::optional<Peer> PeerTable::find(const std::string& name) const {
  const std::lock_guard guard(mutex_);
  if (name.empty()) return std::nullopt;
  const Peer* peer = find_locked(name);
  if (!peer && name.find(':') == std::string::npos) peer = find_locked(name + ":0");
  if (!peer) return std::nullopt;
  return *peer;
}

std::vector<Peer> PeerTable::all() const {
  const std::lock_guard guard(mutex_);
  std::vector<Peer> all;
  all.reserve(peers_.size());
  for (const auto& [nic, peer] : peers_) all.push_back(peer);
  return all;
}

}  // namespace omx::runtime
