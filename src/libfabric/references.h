// SPDX-License-Identifier: BSD-3-Clause
// Counts what depends on an object of libfabric.
#pragma once

#include <atomic>
#include <cassert>

namespace omx::fabric {

// An object may be closed when nothing is left that was made from it or bound to it
// (docs/spec/libfabric.md 6.4). Thread-safe.
class References {
 public:
  void add() { count_.fetch_add(1, std::memory_order_relaxed); }
  void drop() {
    [[maybe_unused]] const unsigned before = count_.fetch_sub(1, std::memory_order_release);
    assert(before > 0);
  }
  bool any() const { return count_.load(std::memory_order_acquire) != 0; }

 private:
  std::atomic<unsigned> count_{0};
};

}  // namespace omx::fabric
