// SPDX-License-Identifier: BSD-3-Clause
// fi_cq. The thread that makes progress writes entries. The queue grows as needed, so no entry is lost for
// lack of room (docs/spec/libfabric.md 2.4).
#pragma once

#include <rdma/fi_eq.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>

#include "libfabric/address.h"
#include "libfabric/spin_lock.h"
#include "libfabric/waitable.h"

namespace omx::fabric {

// One completion in its largest form. What the application's format leaves out is not copied.
struct Entry {
  fi_cq_tagged_entry good{};
  fi_addr_t source = FI_ADDR_NOTAVAIL;
  // The code of libfabric; 0: a success.
  int error = 0;
  int provider_error = 0;
  std::size_t missing = 0;  // bytes that did not fit
  Address unknown{};        // of the sender, with FI_EADDRNOTAVAIL
};

// Thread-safe.
class CompletionQueue : public fid_cq, public Waitable {
 public:
  CompletionQueue(Domain& domain, fi_cq_format format, std::size_t size);

  // Adds an entry. May throw when there is no memory.
  void push(const Entry& entry);
  bool empty() const { return count_.load(std::memory_order_acquire) == 0; }

  // Reads as fi_cq_readfrom does, after a turn of the domain.
  ssize_t read(void* out, std::size_t count, fi_addr_t* sources);
  // Answers fi_cq_readerr: 1, or -FI_EAGAIN if the oldest entry is no error.
  ssize_t read_error(fi_cq_err_entry* out);
  // Waits as fi_cq_sreadfrom does.
  ssize_t wait_read(void* out, std::size_t count, fi_addr_t* sources, const void* condition, int timeout_ms);
  // Makes wait_read() take its condition as a number of entries.
  void threshold_used() { has_threshold_ = true; }

  References references;

 protected:
  bool something() const override {
    return count_.load(std::memory_order_acquire) >= wanted_.load(std::memory_order_relaxed);
  }
  bool something_since_armed() override {
    const std::lock_guard guard(lock_);  // under which push() adds
    return something();
  }

 private:
  std::optional<Entry> error_take();
  void error_data_give(const Address& unknown, fi_cq_err_entry& out);
  ssize_t take(void* out, std::size_t count, fi_addr_t* sources);
  void grow();

  const std::size_t entry_size_;
  bool has_threshold_ = false;
  SpinLock lock_;  // guards the ring; taken inside an endpoint's lock
  std::unique_ptr<Entry[]> ring_;
  std::size_t mask_;
  std::size_t first_ = 0;
  std::atomic<std::size_t> count_{0};  // written with the lock held, with release
  std::atomic<std::size_t> wanted_{1};
  std::atomic<unsigned> reads_{0};
  std::atomic<bool> emptied_{false};                  // whether the last read took all entries
  std::array<std::byte, kAddressMost> error_data_{};  // of the last error that was read
};

// Opens a completion queue. Returns 0, or a negative error code whose reason is logged. Thread-safe.
int completion_queue_open(fid_domain* domain, fi_cq_attr* attr, fid_cq** queue, void* context);

}  // namespace omx::fabric
