// SPDX-License-Identifier: BSD-3-Clause
// fi_cntr: how many operations of some kinds have ended.
#pragma once

#include <rdma/fi_eq.h>

#include <atomic>

#include "libfabric/waitable.h"

namespace omx::fabric {

// Thread-safe.
class Counter : public fid_cntr, public Waitable {
 public:
  explicit Counter(Domain& domain);

  // Count operations that have ended.
  void add(std::uint64_t value) {
    value_.fetch_add(value, std::memory_order_acq_rel);
    added_in_order();
  }
  void add_error(std::uint64_t value) {
    errors_.fetch_add(value, std::memory_order_acq_rel);
    added_in_order();
  }
  // Set the value or the errors, and wake threads that wait.
  void set(std::uint64_t value);
  void set_error(std::uint64_t value);
  // Notes that a reader has seen the values, so that they are no longer new.
  void seen() {
    wanted_.store(value() + 1, std::memory_order_relaxed);
    errors_seen_.store(errors(), std::memory_order_relaxed);
  }
  std::uint64_t value() const { return value_.load(std::memory_order_acquire); }
  std::uint64_t errors() const { return errors_.load(std::memory_order_acquire); }
  // Returns the errors, and notes that they were reported.
  std::uint64_t errors_read();
  // Answers fi_cntr_wait: 0, -FI_EAVAIL after a new error, or -FI_ETIMEDOUT.
  int wait_for(std::uint64_t threshold, int timeout_ms);

  References references;

 protected:
  bool something() const override;
  bool something_since_armed() override;

 private:
  // Threads that make progress add to these, with acquire and release for something_since_armed().
  std::atomic<std::uint64_t> value_{0}, errors_{0};
  std::atomic<std::uint64_t> errors_told_{0};
  std::atomic<int> waiters_{0};
  // The value that a thread waits for, and the errors when it began to wait.
  std::atomic<std::uint64_t> wanted_{1}, errors_seen_{0};
};

// Opens a counter. Returns 0, or a negative error code whose reason is logged. Thread-safe.
int counter_open(fid_domain* domain, fi_cntr_attr* attr, fid_cntr** counter, void* context);

}  // namespace omx::fabric
