// SPDX-License-Identifier: BSD-3-Clause
// What a workload on the simulated hosts is told and what it reports.
#pragma once

#include <optional>
#include <string>

#include "simulation/nic/network.h"

namespace omx::simulation::nic {

struct WorkOptions {
  NetworkOptions network;
  std::uint32_t size = 0;
  std::uint32_t iterations = 100;
  std::uint32_t window = 64;  // of a stream: messages on their way
  std::uint32_t mark_moved =
      0;  // the last fragment of a medium message gives its mark to one so much earlier
  std::optional<wire::PacketType> unmarked;  // frames of this type carry no mark
  bool synchronous = false;                  // of a stream: the next message when the last has been received
  std::string kernel;                        // name of one of kernels.h
  double compute_ns = 0;                     // of a kernel: each process in each iteration
  double gap_ns = 0;  // of an incast: mean time between messages of all senders; 0: as fast as they can
};

// Of the measured part, both hosts together unless told otherwise.
struct WorkResult {
  std::string failure;  // empty: none
  double time_ns = 0;
  std::uint64_t messages = 0;  // ping-pong: both directions
  std::uint64_t frames = 0, interrupts = 0, dropped = 0;
  std::uint64_t receiver_interrupts = 0;  // of the second host
  CacheCounts kernel, user;
  double receiver_interrupt_ns = 0, receiver_process_ns = 0;  // that cores of the second host were busy
  double latency_us = 0,
         latency_p99_us = 0;  // of an incast: from the call that sends to the completed receive
  std::uint64_t digest = 0;

  double per_message_us() const { return messages == 0 ? 0 : time_ns / 1e3 / static_cast<double>(messages); }
  double rate() const { return time_ns == 0 ? 0 : static_cast<double>(messages) * 1e9 / time_ns; }
};

}  // namespace omx::simulation::nic
