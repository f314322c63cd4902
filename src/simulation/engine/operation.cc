// SPDX-License-Identifier: BSD-3-Clause
#include "simulation/engine/operation.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace omx::simulation {

using protocol::Status;

void operation_split(Operation& operation, Random& random) {
  std::size_t at = 0;
  const std::size_t length = operation.data.size();
  const std::size_t pieces = random.chance(0.7) ? 1 : 2 + random.below(4);
  for (std::size_t i = 1; i < pieces; i++) {
    const std::size_t piece = random.below(length - at + 1);
    operation.segments.push_back({operation.data.data() + at, static_cast<std::uint32_t>(piece)});
    at += piece;
  }
  operation.segments.push_back({operation.data.data() + at, static_cast<std::uint32_t>(length - at)});
}

std::string delivery_check(Operation& m, const Operation& r, const protocol::Completion& c) {
  const std::size_t fits = std::min(m.data.size(), r.data.size());
  const Status wanted = fits < m.data.size() ? Status::truncated : Status::success;
  m.truncated = wanted == Status::truncated;
  if (c.status != wanted || c.msg_length != m.data.size() || c.xfer_length != fits) {
    return fmt::format("message {} of {} bytes into {}: status {}, {} of {} bytes", m.id, m.data.size(),
                       r.data.size(), static_cast<int>(c.status), c.xfer_length, c.msg_length);
  }
  std::vector<std::byte> sent(m.data.size());
  random_fill(sent, m.id);
  const auto end = sent.begin() + static_cast<std::ptrdiff_t>(fits);
  if (const auto wrong = std::mismatch(sent.begin(), end, r.data.begin()).first; wrong != end)
    return fmt::format("message {} arrived damaged at byte {}", m.id, wrong - sent.begin());
  const auto untouched = [](std::byte b) { return b == std::byte{0xEE}; };
  if (!std::all_of(r.data.begin() + static_cast<std::ptrdiff_t>(fits), r.data.end(), untouched))
    return fmt::format("message {} was written beyond its length", m.id);
  return "";
}

std::size_t length_choose(Random& random, std::size_t largest) {
  static constexpr std::size_t kEdges[] = {
      0,    1,    31,   32,   33,   127,  128,  129,   1000,  1001,  1400,  1452,  1453,  4095,  4096,
      4097, 8191, 8192, 8193, 8968, 9000, 9001, 16384, 32767, 32768, 32769, 65535, 65536, 65537, 100000};
  if (random.chance(0.5)) return kEdges[random.below(std::size(kEdges))];
  if (random.chance(0.7)) return random.below(2000);
  return random.below(random.chance(0.1) ? largest : 60'000);
}

}  // namespace omx::simulation
