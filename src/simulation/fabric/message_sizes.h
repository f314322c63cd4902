// SPDX-License-Identifier: BSD-3-Clause
// Distributions of message sizes, as published.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "base/random.h"

namespace omx::simulation::fabric {

// This part of the messages has at most this length. Between two points lengths are uniform.
struct SizePoint {
  double length;
  double part;
};

class MessageSizes {
 public:
  explicit MessageSizes(std::span<const SizePoint> points) : points_(points) {}
  std::uint32_t draw(Random& random) const;
  double mean() const;
  std::uint32_t most() const { return static_cast<std::uint32_t>(points_.back().length); }

 private:
  std::span<const SizePoint> points_;
};

// Names: w1 to w5 (the workloads of the Homa paper), web-search (of the DCTCP paper), hpc.
std::optional<MessageSizes> message_sizes(std::string_view name);
inline constexpr std::string_view kMessageSizeNames = "w1, w2, w3, w4, w5, web-search, hpc";

}  // namespace omx::simulation::fabric
