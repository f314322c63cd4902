// SPDX-License-Identifier: BSD-3-Clause
// The peers that have a bulk path, by its address. An entry has four bytes, because a large job has many idle
// peers. The address itself is in the peer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "wire/udp_bulk.h"

namespace omx::protocol {

class PeerTable;
struct Peer;

class BulkOwners {
 public:
  explicit BulkOwners(const PeerTable& peers) : peers_(peers) {}

  // Returns the peer with this IP address and port; nullptr: none.
  Peer* find(const wire::BulkAddress& address) const;
  // Adds a peer, whose address no other peer here has. Returns false when the system has no memory.
  bool add(const Peer& p);
  // Removes a peer, if it is here.
  void remove(const Peer& p);
  std::size_t size() const { return count_; }
  std::size_t bytes() const { return entries_.capacity() * sizeof(std::uint32_t); }

 private:
  std::size_t place_of(const wire::BulkAddress& address) const;
  std::size_t after(std::size_t place) const { return place + 1 < entries_.size() ? place + 1 : 0; }
  void put(const Peer& p);
  bool grow();

  const PeerTable& peers_;
  // A hash table with linear probing. An entry is 1 + the index of a peer; 0: free. At least one entry is
  // free.
  std::vector<std::uint32_t> entries_;
  std::size_t count_ = 0;
};

}  // namespace omx::protocol
