// SPDX-License-Identifier: BSD-3-Clause
// Counters of an engine (docs/spec/copy-offload.md 9). Only its owner writes them. They are never reset.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace omx::copy {

enum class Counter : std::size_t {
  pieces,
  bytes,
  cpu_bytes,    // those of `bytes` that the owner's thread copied
  busy,         // submissions refused because too much was outstanding
  queue_full,   // the device took fewer descriptors than it was offered
  faults_read,  // page faults of the device
  faults_write,
  resubmissions,
  cpu_fault,    // pieces finished by the owner's thread: after page faults,
  cpu_busy,     // because the device's queue stayed full,
  cpu_error,    // after an error,
  cpu_stopped,  // because the engine was switched off before they began,
  cpu_lost,     // because no completion came
  failed,       // pieces reported as failed
  disabled,     // times the engine was switched off
  waited_ns,    // in drain()
  count
};

inline constexpr const char* kCounterNames[] = {
    "Copy Pieces",
    "Copy Bytes",
    "Copy Bytes by CPU",
    "Copy Engine Busy",
    "Copy Queue Full",
    "Copy Faults Read",
    "Copy Faults Write",
    "Copy Resubmissions",
    "Copy Finished by CPU, Fault",
    "Copy Finished by CPU, Queue Full",
    "Copy Finished by CPU, Error",
    "Copy Finished by CPU, Engine Off",
    "Copy Finished by CPU, Lost",
    "Copy Failed",
    "Copy Engine Disabled",
    "Copy Waited ns",
};
static_assert(std::size(kCounterNames) == static_cast<std::size_t>(Counter::count));

struct Counters {
  std::array<std::uint64_t, static_cast<std::size_t>(Counter::count)> values{};

  std::uint64_t get(Counter counter) const { return values[static_cast<std::size_t>(counter)]; }
  void add(Counter counter, std::uint64_t by = 1) { values[static_cast<std::size_t>(counter)] += by; }
};

}  // namespace omx::copy
