// SPDX-License-Identifier: BSD-3-Clause
#include "protocol/state/bulk_owners.h"

#include <algorithm>
#include <cassert>
#include <cstring>
#include <new>
#include <utility>

#include "protocol/state/peer.h"
#include "protocol/state/peer_table.h"

namespace omx::protocol {

std::size_t BulkOwners::place_of(const wire::BulkAddress& address) const {
  std::uint64_t halves[2];
  static_assert(sizeof halves == sizeof address.ip);
  std::memcpy(halves, address.ip.data(), sizeof halves);
  const std::uint64_t h = (halves[0] ^ halves[1] ^ address.port) * 0x9E3779B97F4A7C15ULL;
  return static_cast<std::size_t>((h >> 32) * entries_.size() >> 32);
}

Peer* BulkOwners::find(const wire::BulkAddress& address) const {
  if (entries_.empty()) return nullptr;
  for (std::size_t place = place_of(address); entries_[place] != 0; place = after(place)) {
    Peer* const p = peers_[entries_[place] - 1];
    if (p->bulk.address.port == address.port && p->bulk.address.ip == address.ip) return p;
  }
  return nullptr;
}

void BulkOwners::put(const Peer& p) {
  std::size_t place = place_of(p.bulk.address);
  while (entries_[place] != 0) place = after(place);
  entries_[place] = p.index + 1;
}

// A table that grows in small steps has few free entries.
bool BulkOwners::grow() {
  try {
    const auto former = std::exchange(
        entries_, std::vector<std::uint32_t>(std::max<std::size_t>(entries_.size() * 3 / 2, 16)));
    for (const std::uint32_t entry : former)
      if (entry != 0) put(*peers_[entry - 1]);
  } catch (const std::bad_alloc&) {
    return false;
  }
  return true;
}

bool BulkOwners::add(const Peer& p) {
  assert(!find(p.bulk.address));
  if ((count_ + 1) * 5 > entries_.size() * 4 && !grow() && count_ + 1 >= entries_.size()) return false;
  put(p);
  count_++;
  return true;
}

void BulkOwners::remove(const Peer& p) {
  if (entries_.empty()) return;
  std::size_t hole = place_of(p.bulk.address);
  for (; entries_[hole] != p.index + 1; hole = after(hole))
    if (entries_[hole] == 0) return;
  count_--;
  // Entries that would not be found behind a free one move back.
  for (std::size_t next = after(hole); entries_[next] != 0; next = after(next)) {
    const std::size_t home = place_of(peers_[entries_[next] - 1]->bulk.address);
    const bool reached = hole <= next ? home <= hole || home > next : home <= hole && home > next;
    if (reached) entries_[std::exchange(hole, next)] = entries_[next];
  }
  entries_[hole] = 0;
}

}  // namespace omx::protocol
