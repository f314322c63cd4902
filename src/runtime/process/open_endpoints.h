// SPDX-License-Identifier: BSD-3-Clause
// The open endpoints of a process by slot, and how they are closed.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "base/fork_guard.h"
#include "runtime/endpoint/endpoint.h"
#include "runtime/running_deadline.h"

namespace omx::runtime {

inline constexpr std::uint32_t kSlots = 4096;  // endpoints that a process can have open

class OpenEndpoints {
 public:
  // `closed` is called with each endpoint that was closed, before it is destroyed.
  explicit OpenEndpoints(std::function<void(Endpoint&)> closed);
  OpenEndpoints(const OpenEndpoints&) = delete;
  OpenEndpoints& operator=(const OpenEndpoints&) = delete;

  // Returns a free slot, but not the one that was freed last. So a stale address meets another endpoint as
  // late as possible. One thread opens at a time.
  std::optional<std::uint32_t> slot_find();
  // Adds an endpoint in the slot for which it was made. Owns it until it is closed.
  Endpoint* add(std::unique_ptr<Endpoint> endpoint);

  bool owns(const Endpoint* endpoint) const;
  // Returns the endpoint in a slot; nullptr when the slot is free.
  Endpoint* at(std::uint32_t slot) const;
  // Calls `callback` with each endpoint. An endpoint cannot be closed meanwhile, not even by the callback.
  void visit(const std::function<void(Endpoint&)>& callback);
  // Gives each endpoint that no thread uses a turn: a call that waits must not keep peers waiting.
  void help();
  // Closes an endpoint. Waits for unacknowledged sends until the deadline. Returns false if it is not one of
  // these, or if called inside its unexpected handler.
  bool close(Endpoint* endpoint, RunningDeadline& deadline);
  void close_all(RunningDeadline& deadline);

 private:
  const std::function<void(Endpoint&)> closed_;
  ForkMark mark_;
  mutable std::mutex mutex_;  // guards open_
  std::vector<Endpoint*> open_;
  // The endpoints of open_ by slot, owned here. The slots are read without a lock, because the unexpected
  // handler looks up addresses.
  std::unique_ptr<std::atomic<Endpoint*>[]> slots_;
  std::uint32_t slot_next_ = 0;
};

}  // namespace omx::runtime
