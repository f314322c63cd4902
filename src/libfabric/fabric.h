// SPDX-License-Identifier: BSD-3-Clause
// fi_fabric, and the objects that hang on it: all networks that this process reaches are one fabric.
#pragma once

#include <rdma/fabric.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_eq.h>

#include <atomic>

namespace omx::fabric {

// An object may be closed when nothing that was made from it or bound to it is left (libfabric.md 6.4).
class References {
 public:
  void add() { count_.fetch_add(1, std::memory_order_relaxed); }
  void drop() { count_.fetch_sub(1, std::memory_order_release); }
  bool any() const { return count_.load(std::memory_order_acquire) != 0; }

 private:
  std::atomic<unsigned> count_{0};
};

struct Fabric : fid_fabric {
  References references;
};

int fabric_open(fi_fabric_attr* attr, fid_fabric** fabric, void* context);

// --- domain.cc, event_queue.cc, trywait.cc -----------------------------------------------------------------
int domain_open(fid_fabric* fabric, fi_info* info, fid_domain** domain, void* context);
int event_queue_open(fid_fabric* fabric, fi_eq_attr* attr, fid_eq** queue, void* context);
int trywait(fid_fabric* fabric, fid** objects, int count);

}  // namespace omx::fabric
