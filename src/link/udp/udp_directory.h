// SPDX-License-Identifier: BSD-3-Clause
// Maps the NIC ids that this process has met to IP addresses. An IPv6 id is made from the address but does
// not contain it. The address must come from the resolver, the application or a frame that came from there.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <optional>
#include <unordered_map>

#include "link/udp/udp_address.h"

namespace omx::link {

// The directory of all links of a process. Thread-safe.
class UdpDirectory {
 public:
  // Remembers that the NIC id of `ip` stands for `ip`. Returns false when another address with that id was
  // told earlier. IPv4 needs no entry.
  bool told(const Ip& ip);
  // Remembers the address for its NIC id, unless the id has an address already.
  void heard(const Ip& ip);
  std::optional<Ip> find(NicId nic) const;
  // Returns a number that changes when an earlier result of find() may be wrong.
  std::uint32_t version() const { return version_.load(std::memory_order_acquire); }

 private:
  struct Entry {
    Ip ip{};
    bool told = false;
  };
  mutable std::mutex mutex_;
  std::unordered_map<NicId, Entry> entries_;
  std::atomic<std::uint32_t> version_{1};
};

// Returns the directory of this process.
UdpDirectory& udp_directory();

// The entries that one link uses, cached for quick access per frame.
class UdpRoutes {
 public:
  explicit UdpRoutes(const InterfaceAddress& own) : family_(is_ipv4(own.ip) ? IpFamily::v4 : IpFamily::v6) {}
  // Returns where a frame for that NIC goes. For an unknown IPv6 NIC that is the multicast group in which
  // the host listens. Returns nullopt for an Ethernet NIC, or one of the other family.
  std::optional<Ip> to(NicId nic);
  // Returns the NIC id that sends from `ip`. Returns 0 when `ip` is of the other family, or another address
  // has that id.
  NicId from(const Ip& ip);

 private:
  struct Route {
    NicId nic = 0;
    Ip ip{};
  };
  // Unknown peers that were not answered yet. They are limited, because they may be many and forged.
  static constexpr std::size_t kUnknownPeers = 64;

  std::optional<Ip> known(NicId nic);
  void look_again();

  IpFamily family_;
  std::uint32_t version_ = 0;
  std::unordered_map<NicId, Ip> routes_;
  Route last_to_, last_from_;
  std::array<Route, kUnknownPeers> unknown_peers_{};
  std::size_t unknown_next_ = 0;
};

}  // namespace omx::link
