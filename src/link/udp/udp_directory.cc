// SPDX-License-Identifier: BSD-3-Clause
#include "link/udp/udp_directory.h"

#include <algorithm>
#include <new>

namespace omx::link {

UdpDirectory& udp_directory() {
  static auto* const directory = new UdpDirectory;  // threads may outlive main()
  return *directory;
}

bool UdpDirectory::told(const Ip& ip) {
  if (is_ipv4(ip)) return true;
  const std::lock_guard guard(mutex_);
  Entry& entry = entries_[udp_nic(ip)];
  if (entry.told) return entry.ip == ip;
  entry = {ip, true};
  version_.fetch_add(1, std::memory_order_release);
  return true;
}

void UdpDirectory::heard(const Ip& ip) {
  if (is_ipv4(ip)) return;
  const std::lock_guard guard(mutex_);
  entries_.try_emplace(udp_nic(ip), Entry{ip, false});
}

std::optional<Ip> UdpDirectory::find(NicId nic) const {
  if (wire::udp_family(nic) == IpFamily::v4) return wire::udp_ipv4(nic);
  const std::lock_guard guard(mutex_);
  const auto found = entries_.find(nic);
  if (found == entries_.end()) return std::nullopt;
  return found->second.ip;
}

void UdpRoutes::look_again() {
  const std::uint32_t version = udp_directory().version();
  if (version == version_) return;
  version_ = version;
  routes_.clear();
  last_to_ = last_from_ = {};
}

std::optional<Ip> UdpRoutes::known(NicId nic) {
  const auto route = routes_.find(nic);
  if (route != routes_.end()) return route->second;
  const auto found = udp_directory().find(nic);
  if (found) routes_.emplace(nic, *found);
  return found;
}

std::optional<Ip> UdpRoutes::to(NicId nic) {
  if (wire::udp_family(nic) != family_) return std::nullopt;
  if (family_ == IpFamily::v4) return wire::udp_ipv4(nic);
  look_again();
  if (last_to_.nic == nic) return last_to_.ip;
  try {
    auto ip = known(nic);
    if (!ip) {
      const auto* unknown_peer = std::find_if(unknown_peers_.begin(), unknown_peers_.end(),
                                              [&](const Route& r) { return r.nic == nic; });
      if (unknown_peer == unknown_peers_.end()) return wire::udp_group(nic);
      udp_directory().heard(unknown_peer->ip);
      ip = known(nic);
    }
    if (ip) last_to_ = {nic, *ip};
    return ip;
  } catch (const std::bad_alloc&) {  // as if the frame were lost
    return std::nullopt;
  }
}

NicId UdpRoutes::from(const Ip& ip) {
  const bool v4 = is_ipv4(ip);
  if (v4 != (family_ == IpFamily::v4)) return 0;
  const NicId nic = udp_nic(ip);
  if (v4) return nic;
  look_again();
  if (last_from_.nic == nic && last_from_.ip == ip) return nic;
  try {
    if (const auto other = known(nic)) {
      if (*other != ip) return 0;
    } else {
      const auto same = std::find_if(unknown_peers_.begin(), unknown_peers_.end(),
                                     [&](const Route& r) { return r.nic == nic; });
      if (same != unknown_peers_.end()) return same->ip == ip ? nic : 0;
      unknown_peers_[unknown_next_++ % kUnknownPeers] = {nic, ip};
      return nic;
    }
  } catch (const std::bad_alloc&) {
    return 0;
  }
  last_from_ = {nic, ip};
  return nic;
}

}  // namespace omx::link
