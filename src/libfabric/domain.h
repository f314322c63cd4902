// SPDX-License-Identifier: BSD-3-Clause
// fi_domain: one board, or all of them, with its registered memory and its enabled endpoints.
#pragma once

#include <rdma/fi_domain.h>

#include <vector>

#include "libfabric/atomics.h"
#include "libfabric/fabric.h"
#include "libfabric/memory_regions.h"
#include "libfabric/references.h"
#include "libfabric/spin_lock.h"
#include "runtime/board/boards.h"
#include "runtime/process/process.h"
#include "runtime/wait/oversubscription.h"

namespace omx::fabric {

class DrivenEndpoint;

// Thread-safe. The domain does not own its endpoints.
class Domain : public fid_domain {
 public:
  Domain(Fabric& fabric, runtime::Process& process, runtime::Board board, bool all_boards,
         const fi_info& info);
  ~Domain();

  Fabric& fabric() { return fabric_; }
  runtime::Process& process() { return process_; }
  const runtime::Board& board() const { return board_; }
  bool all_boards() const { return all_boards_; }  // whether each endpoint uses all of them together
  fi_av_type av_type() const { return av_type_; }
  std::uint32_t address_format() const { return address_format_; }
  bool legacy_mr() const { return legacy_mr_; }  // FI_MR_BASIC: virtual addresses, our keys
  MemoryRegions& regions() { return regions_; }
  Atomics& atomics() { return atomics_; }

  // Adds an endpoint that has been enabled, or removes one that is about to be closed.
  void endpoint_add(DrivenEndpoint& endpoint);
  void endpoint_remove(DrivenEndpoint& endpoint);
  // Takes one turn of every endpoint, because a thread that waits for anything moves all of them
  // (docs/spec/libfabric.md 6.5). Does nothing while another thread does so. If `look` is false, it does
  // only what timers make due, and does not poll links.
  void progress(bool look = true);
  // Returns the endpoint if there is just one, otherwise nullptr. The endpoint's waiting() counts the caller
  // until the caller takes that back.
  DrivenEndpoint* only_endpoint();
  // Ends accesses of peers to the region at every endpoint (DrivenEndpoint::revoke).
  void revoke(MemoryRegion& region, bool late);
  // Makes the progress threads take over, as the application's threads go to sleep elsewhere. Returns false
  // if an endpoint has no progress thread.
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
  SpinLock lock_;  // guards endpoints_; taken before an endpoint's lock
  std::vector<DrivenEndpoint*> endpoints_;
  // Applications poll all the time. If there are more of them than processors, each keeps those from running
  // that it waits for.
  runtime::PollingFairness fairness_;
};

inline Domain& domain_of(fid_domain* domain) {
  return static_cast<Domain&>(*domain);
}

}  // namespace omx::fabric
