// SPDX-License-Identifier: BSD-3-Clause
// An endpoint of the runtime as its domain drives it, whatever the provider keeps beside it.
#pragma once

#include <atomic>
#include <cassert>

#include "runtime/endpoint/engine_access.h"

namespace omx::fabric {

class MemoryRegion;

class DrivenEndpoint {
 public:
  DrivenEndpoint() = default;
  DrivenEndpoint(const DrivenEndpoint&) = delete;
  DrivenEndpoint& operator=(const DrivenEndpoint&) = delete;

  bool enabled() const { return runtime_ != nullptr; }
  // Returns the endpoint of the runtime, which is there from fi_enable() to fi_close().
  runtime::Endpoint& runtime_endpoint() const {
    assert(runtime_);
    return *runtime_;
  }
  // Takes one turn, if one is due. Returns whether frames came. If `look` is false, only timers make a turn
  // due. Takes the endpoint's lock.
  bool poll(bool look);
  // Returns the number of the application's threads that wait here. The domain counts them, and closing
  // waits for 0.
  std::atomic<int>& waiting() { return waiting_; }

  // Ends accesses of peers to a region that is about to be gone: a peer that has not sent the data it
  // announced is refused. A peer that is `late` is disconnected. Takes the endpoint's lock.
  virtual void revoke(MemoryRegion& region, bool late) = 0;

 protected:
  ~DrivenEndpoint() = default;

  runtime::Endpoint* runtime_ = nullptr;  // owned by the runtime's process

 private:
  std::atomic<int> waiting_{0};
};

}  // namespace omx::fabric
