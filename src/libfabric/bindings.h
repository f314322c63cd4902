// SPDX-License-Identifier: BSD-3-Clause
// What the application binds to an endpoint: an address vector, completion queues, counters and an event
// queue.
#pragma once

#include <rdma/fi_endpoint.h>

#include <array>
#include <cassert>
#include <cstdint>

namespace omx::fabric {

class AddressVector;
class CompletionQueue;
class Counter;
class Domain;
class EventQueue;

// Holds a reference to each object that is bound. Not thread-safe: nothing changes after fi_enable().
class Bindings {
 public:
  // A completion queue, and whether it takes only those successes that ask for an entry
  // (FI_SELECTIVE_COMPLETION).
  struct Queue {
    CompletionQueue* queue = nullptr;
    bool selective = false;
  };
  enum CounterIndex {
    kCountSend,
    kCountReceive,
    kCountRead,
    kCountWrite,
    kCountRemoteRead,
    kCountRemoteWrite,
    kCounters
  };

  explicit Bindings(Domain& domain) : domain_(domain) {}
  ~Bindings();
  Bindings(const Bindings&) = delete;
  Bindings& operator=(const Bindings&) = delete;

  // Answers fi_ep_bind. Returns 0, or a negative error code whose reason is logged; then nothing is bound.
  int bind(fid_t object, std::uint64_t flags);
  // Returns 0 if an endpoint with these capabilities has what it needs, or a negative error code whose reason
  // is logged.
  int check(std::uint64_t caps) const;

  // Returns the address vector, which check() has found.
  AddressVector& addresses() const {
    assert(addresses_);
    return *addresses_;
  }
  const Queue& transmit() const { return transmit_; }
  const Queue& receive() const { return receive_; }
  // Counts an operation that has ended, where a counter is bound for its kind.
  void count(CounterIndex kind, bool error) const;

 private:
  int bind_vector(AddressVector& vector);
  int bind_queue(CompletionQueue& queue, std::uint64_t flags);
  int bind_counter(Counter& counter, std::uint64_t flags);
  int bind_events(EventQueue& queue);

  Domain& domain_;
  AddressVector* addresses_ = nullptr;
  Queue transmit_, receive_;
  std::array<Counter*, kCounters> counters_{};
  EventQueue* event_queue_ = nullptr;
};

}  // namespace omx::fabric
