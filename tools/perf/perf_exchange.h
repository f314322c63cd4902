// SPDX-License-Identifier: BSD-3-Clause
// The measured part of a step, which both ends run, each from its side.
#pragma once

#include <optional>
#include <vector>

#include "tools/perf/perf_dialogue.h"
#include "tools/perf/perf_histogram.h"
#include "tools/perf/perf_mx.h"

namespace omx::tools {

// Page-aligned memory. data() is null if the system has none.
class Region {
 public:
  Region() = default;
  ~Region();
  Region(const Region&) = delete;
  Region& operator=(const Region&) = delete;
  // Makes room for `bytes`. Memory that is large enough is kept. Returns false if there is none.
  bool reserve(std::size_t bytes);
  std::byte* data() { return data_; }

 private:
  std::byte* data_ = nullptr;
  std::size_t bytes_ = 0;
};

struct Mismatch {
  std::uint64_t message = 0;
  std::uint64_t offset = 0;
};

// Must be destroyed after its endpoint is closed, because the endpoint may still receive into these buffers.
class PerfExchange {
 public:
  explicit PerfExchange(bool is_client) : is_client_(is_client) {}

  // Sets the endpoint and the peer.
  void meet(MxPort& port, const mx_endpoint_addr_t& peer, std::uint32_t client);

  // Allocates the buffers and posts the receives that must exist before the peer begins. Returns false for an
  // impossible step or for lack of memory.
  Result<bool> prepare(const PerfStep& step);
  // Runs the step. The client of a ping-pong adds its round trips to `times`.
  Result<void> run(PerfHistogram* times);
  // Returns the first message with wrong data since prepare().
  const std::optional<Mismatch>& mismatch() const { return mismatch_; }

 private:
  Result<void> pingpong_client(PerfHistogram* times);
  Result<void> pingpong_server();
  Result<void> stream(bool sends, bool receives);

  bool sends() const;
  bool receives() const;
  // Returns number % count. A ping-pong needs no division, which would be measured.
  static std::uint64_t turn_of(std::uint64_t number, std::uint64_t count) {
    return count == 1 ? 0 : number % count;
  }
  std::byte* place(Region& region, std::uint64_t number) {
    return region.data() + turn_of(number, places_) * stride_;
  }
  Result<void> post_receive(std::uint64_t number);
  Result<void> take_receive(std::uint64_t number);
  Result<void> post_send(std::uint64_t number);
  Result<void> complete(mx_request_t request, mx_status_t& status);
  Result<void> take_send(std::uint64_t number);

  const bool is_client_;
  MxPort* port_ = nullptr;
  mx_endpoint_addr_t peer_{};
  std::uint64_t match_ = 0;
  PerfStep step_;
  Region outgoing_, incoming_;
  std::uint64_t stride_ = 0, places_ = 1;
  std::vector<mx_request_t> sending_, receiving_;  // request of message n at index n % window
  std::optional<Mismatch> mismatch_;
};

}  // namespace omx::tools
