// SPDX-License-Identifier: BSD-3-Clause
// Options and result of a workload on the simulated hosts.
#pragma once

#include <optional>
#include <string>

#include "simulation/nic/network.h"

namespace omx::simulation::nic {

struct WorkOptions {
  NetworkOptions network;
  std::uint32_t size = 0;
  std::uint32_t iterations = 100;
  std::uint32_t window = 64;  // of a stream: messages under way
  // The last fragment of a medium message gives its mark to a fragment this many places earlier.
  std::uint32_t mark_moved = 0;
  std::optional<wire::PacketType> unmarked;  // frames of this type carry no mark
  bool synchronous = false;  // of a stream: each message waits until the one before it was received
  std::string kernel;        // one of kernels.h
  double compute_ns = 0;     // of a kernel: for each process in each iteration
  double gap_ns = 0;  // of an incast: mean time between messages of all senders; 0: as fast as they can
};

// Results of the measured part, for all hosts together unless stated otherwise.
struct WorkResult {
  std::string failure;  // empty: no failure
  double time_ns = 0;
  std::uint64_t messages = 0;  // ping-pong: both directions
  std::uint64_t frames = 0, interrupts = 0, dropped = 0;
  std::uint64_t receiver_interrupts = 0;  // of Measurement::receiver()
  CacheCounts kernel, user;
  double receiver_interrupt_ns = 0, receiver_process_ns = 0;  // time that cores of that host were busy
  // Latency of an incast, from the call that sends to the completed receive.
  double latency_us = 0, latency_p50_us = 0, latency_p99_us = 0;
  std::uint64_t digest = 0;

  double per_message_us() const { return messages == 0 ? 0 : time_ns / 1e3 / static_cast<double>(messages); }
  double rate() const { return time_ns == 0 ? 0 : static_cast<double>(messages) * 1e9 / time_ns; }
};

}  // namespace omx::simulation::nic
