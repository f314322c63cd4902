// SPDX-License-Identifier: BSD-3-Clause
// Where the hosts are whose NIC ids this process has met. An id of IPv6 is made of the address, but does not
// hold it: somebody must have told it (the resolver, the application), or a frame must have come from there.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <optional>
#include <unordered_map>

#include "link/udp/udp_address.h"

namespace omx::link {

// Thread-safe.
class UdpDirectory {
 public:
  // False: another address has the same id, which was told earlier. Nothing to remember of IPv4.
  bool told(const Ip& ip);
  // Frames for that id go there now; what is told holds nevertheless.
  void heard(const Ip& ip);
  std::optional<Ip> find(NicId nic) const;
  // Another one when what was found earlier may be wrong.
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

// Of this process.
UdpDirectory& udp_directory();

// What one link knows of it, for each frame.
class UdpRoutes {
 public:
  explicit UdpRoutes(const InterfaceAddress& own) : family_(is_ipv4(own.ip) ? IpFamily::v4 : IpFamily::v6) {}
  // Where a frame for that NIC goes: for an unknown one of IPv6, to the group in which it listens. None: it
  // is one of Ethernet, or of the other family.
  std::optional<Ip> to(NicId nic);
  // Returns the NIC id that sends from there; 0: of the other family, or another address has that id.
  NicId from(const Ip& ip);

 private:
  struct Route {
    NicId nic = 0;
    Ip ip{};
  };
  // Unknown peers that were not answered yet; they may be many, and lie.
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
