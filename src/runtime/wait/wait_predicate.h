// SPDX-License-Identifier: BSD-3-Clause
// What a thread waits for, and how a wait ends.
#pragma once

#include <cstdint>

#include "protocol/endpoint.h"

namespace omx::runtime {

using protocol::Completion;
using protocol::Request;

// no_request: the predicate names no pending or completed request of the endpoint.
enum class WaitOutcome { done, timed_out, woken, no_request };

inline constexpr std::uint64_t kForever = ~std::uint64_t{0};  // milliseconds

struct WaitPredicate {
  enum class Kind { request, any, peek, probe, ready, never };
  Kind kind = Kind::request;
  Request* request = nullptr;  // kind request: the request; kind peek: the answer
  std::uint64_t match_info = 0, match_mask = 0;
  Completion* completion = nullptr;
  protocol::Arrival* arrival = nullptr;
  bool (*ready)(void*) = nullptr;
  void* context = nullptr;

  // Returns whether take() would succeed. Changes nothing.
  bool satisfied(protocol::Endpoint& engine) const;
  // Stores what the thread waits for where the predicate says. Returns false when it is not there yet.
  bool take(protocol::Endpoint& engine);
};

}  // namespace omx::runtime
