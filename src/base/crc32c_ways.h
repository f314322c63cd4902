// SPDX-License-Identifier: BSD-3-Clause
// The ways to compute CRC-32C, for crc32c.cc, its test and its benchmark. All take and return the complement
// of the checksum, as the processor's instruction does.
#pragma once

#include <cstddef>
#include <cstdint>

namespace omx::crc32c_ways {

// A way as a function.
using Way = std::uint32_t (*)(std::uint32_t crc, const unsigned char* data, std::size_t length);

// Works on every processor: 1 byte in a step.
std::uint32_t by_table(std::uint32_t crc, const unsigned char* data, std::size_t length);

// Uses the instruction, 8 bytes in a step. A step waits for the result of the one before it, which takes 3
// cycles. nullptr if this processor has no such instruction.
Way by_instruction();

// Lets three such chains run side by side, each over a third of the data. nullptr if this processor cannot.
Way by_streams();

}  // namespace omx::crc32c_ways
