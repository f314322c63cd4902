// SPDX-License-Identifier: BSD-3-Clause
// Measures the engine with many hosts, peers, or large messages to one receiver. Cables have no faults:
// frames are lost only by full switch ports.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "simulation/engine/events.h"

namespace omx::simulation {

enum class ScaleShape {
  incast,      // every host sends to the first one at the same time
  all_to_all,  // every host sends to every other one
};
std::optional<ScaleShape> scale_shape(std::string_view name);

struct ScaleOptions {
  ScaleShape shape = ScaleShape::incast;
  std::uint32_t hosts = 65;
  std::uint32_t length = 1U << 20;  // of a message
  std::uint32_t messages = 1;       // from each sender to each of its receivers
  std::uint32_t mtu = 9000;
  std::uint64_t bits_per_second = 10'000'000'000;  // of every cable
  std::uint64_t queue_bytes = 256U << 10;          // of a switch port
};

struct ScaleResult {
  std::string failure;  // empty: no failure
  std::uint64_t messages = 0, bytes = 0;
  TimeNs connecting = 0;              // virtual time until all were connected
  TimeNs time = 0;                    // from the first send to the last completion
  TimeNs first_done = 0;              // when the first and the last sender were done, from the first send on
  TimeNs last_done = 0;               //
  double port_share = 0;              // message bytes per time, relative to the busiest port's rate
  std::uint64_t frames = 0;           // of all types, since all were connected
  std::uint64_t data_frames = 0;      // that carry message bytes
  std::uint64_t frames_needed = 0;    // data frames needed if each were sent once
  std::uint64_t dropped = 0;          // by switch ports
  std::uint64_t deepest = 0;          // bytes in the queue of the fullest port
  std::uint64_t memory_per_peer = 0;  // bytes of the first host
  double cpu_per_message = 0;         // ns of this process, simulation included
  double resent_share() const {
    return frames_needed == 0 ? 0 : static_cast<double>(data_frames) / static_cast<double>(frames_needed) - 1;
  }
};

ScaleResult scale_run(const ScaleOptions& options);

}  // namespace omx::simulation
