// SPDX-License-Identifier: BSD-3-Clause
// Memory that peers may read and write. Nothing is pinned. A region is an entry in a table that says which
// accesses are allowed.
#pragma once

#include <rdma/fi_domain.h>
#include <sys/uio.h>

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>
#include <unordered_map>
#include <vector>

#include "protocol/types.h"

namespace omx::fabric {

class Counter;
class Domain;

// A region that fi_mr_reg() has made. All but `users` is fixed when peers can reach it.
class MemoryRegion : public fid_mr {
 public:
  MemoryRegion(Domain& owner) : fid_mr{}, domain(owner) {}
  Domain& domain;
  std::vector<iovec> pieces;
  std::uint64_t first = 0;  // the address that peers give for its first byte
  std::uint64_t length = 0;
  std::uint64_t access = 0;
  Counter* counter = nullptr;  // of remote writes
  unsigned users = 0;          // accesses of peers that run; guarded by the table
};

// Thread-safe.
class MemoryRegions {
 public:
  // Adds a region, which is not owned. Returns false if the key is in use.
  bool add(MemoryRegion& region, std::uint64_t key);
  // Returns a key that no region has.
  std::uint64_t key_draw();
  // Makes the region unknown to peers. Those that hold it still use it.
  void remove(MemoryRegion& region);
  // Holds the region until release(). nullptr: there is no such key, or the range or the access is not
  // allowed.
  MemoryRegion* hold(std::uint64_t key, std::uint64_t address, std::uint64_t bytes, std::uint64_t access);
  void release(MemoryRegion& region);
  bool in_use(const MemoryRegion& region);

 private:
  std::mutex mutex_;
  std::unordered_map<std::uint64_t, MemoryRegion*> by_key_;
  std::uint64_t next_key_ = 1;
};

// Appends the pieces of [address, address + bytes) of a region to `out`. The range must lie in the region.
void region_pieces(const MemoryRegion& region, std::uint64_t address, std::uint64_t bytes,
                   std::vector<protocol::Segment>& out);

}  // namespace omx::fabric
