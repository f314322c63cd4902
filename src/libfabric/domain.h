// SPDX-License-Identifier: BSD-3-Clause
// fi_domain: one board, or all of them, its registered memory, and the endpoints opened on it.
#pragma once

#include <rdma/fi_atomic.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>

#include <memory>
#include <mutex>
#include <vector>

#include "libfabric/atomics.h"
#include "libfabric/fabric.h"
#include "libfabric/memory_regions.h"
#include "libfabric/spin_lock.h"
#include "runtime/board/boards.h"
#include "runtime/process/process.h"
#include "runtime/wait/oversubscription.h"

namespace omx::fabric {

class Endpoint;

struct FreeInfo {
  void operator()(fi_info* info) const { fi_freeinfo(info); }
};
using InfoPointer = std::unique_ptr<fi_info, FreeInfo>;

class Domain : public fid_domain {
 public:
  Domain(Fabric& fabric, runtime::Process& process, runtime::Board board, bool all_boards,
         const fi_info& info);
  ~Domain();

  Fabric& fabric() { return fabric_; }
  runtime::Process& process() { return process_; }
  const runtime::Board& board() const { return board_; }
  bool all_boards() const { return all_boards_; }  // its endpoints use all of them together
  fi_av_type av_type() const { return av_type_; }
  std::uint32_t address_format() const { return address_format_; }
  bool legacy_mr() const { return legacy_mr_; }  // FI_MR_BASIC: virtual addresses, our keys
  MemoryRegions& regions() { return regions_; }
  Atomics& atomics() { return atomics_; }

  void endpoint_add(Endpoint& endpoint);
  void endpoint_remove(Endpoint& endpoint);
  // One turn of every endpoint: whoever waits for anything moves all (libfabric.md 6.5). Does nothing while
  // another thread is at it. Without a look at the links only what their timers make due.
  void progress(bool look = true);
  // If there is just one, and it is enabled; counted in its waiting() until the caller takes that back.
  Endpoint* only_endpoint();
  void revoke(MemoryRegion& region, bool late);
  // The application's threads go to sleep elsewhere. False: nobody would look after an endpoint.
  bool hand_over();

  References references;

 private:
  Fabric& fabric_;
  runtime::Process& process_;
  runtime::Board board_;
  bool all_boards_;
  fi_av_type av_type_;
  std::uint32_t address_format_;
  bool legacy_mr_;
  MemoryRegions regions_;
  Atomics atomics_;
  SpinLock lock_;  // endpoints_; taken before an endpoint's lock
  std::vector<Endpoint*> endpoints_;
  // Applications poll without end; with more of them than processors each keeps those from running that it
  // waits for.
  runtime::PollingFairness fairness_;
};

inline Domain& domain_of(fid_domain* domain) {
  return static_cast<Domain&>(*domain);
}

// --- what a domain opens, each in the file of its name -----------------------------------------------------
int address_vector_open(fid_domain* domain, fi_av_attr* attr, fid_av** vector, void* context);
int completion_queue_open(fid_domain* domain, fi_cq_attr* attr, fid_cq** queue, void* context);
int counter_open(fid_domain* domain, fi_cntr_attr* attr, fid_cntr** counter, void* context);
int endpoint_open(fid_domain* domain, fi_info* info, fid_ep** endpoint, void* context);
int poll_set_open(fid_domain* domain, fi_poll_attr* attr, fid_poll** set);
int atomic_query(fid_domain* domain, fi_datatype type, fi_op op, fi_atomic_attr* attr, std::uint64_t flags);
extern const fi_ops_mr kMemoryOps;

}  // namespace omx::fabric
