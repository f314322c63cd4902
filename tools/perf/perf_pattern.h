// SPDX-License-Identifier: BSD-3-Clause
// Message contents for --verify. Every byte depends on the message's size, number and direction. A check
// therefore finds data of another message, a gap and a shift.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace omx::tools {

std::uint64_t pattern_seed(std::uint64_t size, std::uint64_t number, bool from_client);
void pattern_fill(std::span<std::byte> data, std::uint64_t seed);
// Returns the offset of the first wrong byte.
std::optional<std::size_t> pattern_check(std::span<const std::byte> data, std::uint64_t seed);

// Size of the guard behind a receive buffer, which no message may touch.
inline constexpr std::size_t kGuardBytes = 64;
void guard_fill(std::byte* guard);
bool guard_intact(const std::byte* guard);

}  // namespace omx::tools
