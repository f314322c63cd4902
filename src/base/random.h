// SPDX-License-Identifier: BSD-3-Clause
// A small seeded generator (xorshift64*): the same seed gives the same numbers on every machine. It is for
// tests and simulation, not for secrets.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace omx {

class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed * 0x9e3779b97f4a7c15ULL + 0x2545f4914f6cdd1dULL) {
    if (!state_) state_ = 1;
    next();
  }

  std::uint64_t next() {
    state_ ^= state_ >> 12;
    state_ ^= state_ << 25;
    state_ ^= state_ >> 27;
    return state_ * 0x2545f4914f6cdd1dULL;
  }

  // Returns a uniform number in [0, bound). `bound` is above 0.
  std::uint64_t below(std::uint64_t bound) {
    return static_cast<std::uint64_t>((static_cast<unsigned __int128>(next()) * bound) >> 64);
  }

  // Returns true with the given probability.
  bool chance(double probability) { return static_cast<double>(next() >> 11) * 0x1.0p-53 < probability; }

 private:
  std::uint64_t state_;
};

// Fills `data` with the bytes that belong to a seed, for receivers to compare with.
inline void random_fill(std::span<std::byte> data, std::uint64_t seed) {
  Random random(seed);
  for (std::size_t i = 0; i < data.size(); i += sizeof(std::uint64_t)) {
    const std::uint64_t value = random.next();
    std::memcpy(data.data() + i, &value, data.size() - i < sizeof value ? data.size() - i : sizeof value);
  }
}

}  // namespace omx
